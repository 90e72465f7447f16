//! Params and result of `show`.

use serde::{Deserialize, Serialize};

use crate::FreshnessLevel;

/// Params of `show`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShowParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST`, `PATH#SYMBOL`, or the name of a definition anywhere; the path is
    /// relative to `cwd` or absolute. A line selects the innermost definition around it or, if that has more than 80
    /// lines, 15 lines before and after it.
    pub target: String,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `show`, as `memo show --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShowResult {
    /// The requested parts; several if definitions have one name.
    pub parts: Vec<ShownPart>,
    /// Number of further definitions with the same name.
    pub left_out: usize,
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
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
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// First and last line, 1-based and inclusive; `[1, 0]` for an empty file.
    pub lines: (u32, u32),
    /// Name of the definition after its enclosing names.
    pub title: Option<String>,
    /// Number of `@overload` declarations of Python before the implementation; absent if there are none.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub n_overloads: usize,
    /// The lines with their line ends; filler letters replace credentials.
    pub text: String,
}
