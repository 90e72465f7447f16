//! Params and result of `show`.

use serde::{Deserialize, Serialize};

use super::FreshnessLevel;

/// Params of `show`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShowParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST`, `PATH#SYMBOL`, or the name of a definition anywhere; the path relative to
    /// `cwd`, or absolute. A line stands for the innermost definition around it; of one with more than
    /// 80 lines, for 15 before and after it.
    pub target: String,
    /// Required freshness.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `show`, as `memo show --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShowResult {
    /// What was asked for; several where definitions have one name.
    pub parts: Vec<ShownPart>,
    /// How many more definitions have the name.
    pub left_out: usize,
    /// Whether the promise of the requested level holds.
    pub fresh: bool,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPart {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// First and last line, 1-based and inclusive; `[1, 0]` for an empty file.
    pub lines: (u32, u32),
    /// Enclosing names and own name of the definition.
    pub title: Option<String>,
    /// The lines, each with its end; letters of a filler stand for credentials.
    pub text: String,
}
