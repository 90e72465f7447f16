//! Params and result of `outline`.

use serde::{Deserialize, Serialize};

use super::FreshnessLevel;

/// Params of `outline`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OutlineParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// What `show` takes: a path, a definition or line of a file, or the name of a definition.
    pub target: String,
    /// Most levels of the outline; all when absent.
    pub depth: Option<u32>,
    /// Most items in the result; 1,000 when absent. With more, the innermost are left out first.
    pub limit: Option<usize>,
    /// Required freshness.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `outline`, as `memo outline --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OutlineResult {
    /// In the order of the text.
    pub items: Vec<OutlineItem>,
    /// How many there are.
    pub n_found: usize,
    /// Why there may be more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Whether the promise of the requested level holds.
    pub fresh: bool,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// A definition, a block of definitions such as an `impl`, or a section of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineItem {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Enclosing names and own name, or the headings.
    pub title: String,
    /// First and last line, 1-based and inclusive; of a definition with the comments above, of a heading without text
    /// of its own from its first section on.
    pub lines: (u32, u32),
    /// Number of items around it.
    pub depth: u32,
    /// Signature or heading; letters of a filler stand for credentials.
    pub text: String,
}
