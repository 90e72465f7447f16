//! Params and result of `outline`.

use serde::{Deserialize, Serialize};

use crate::FreshnessLevel;

/// Params of `outline`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OutlineParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// A target as for `show`: a path, a definition or line of a file, or the name of a definition.
    pub target: String,
    /// Maximum number of levels in the outline; all when absent.
    pub depth: Option<u32>,
    /// Maximum number of items in the result; 1,000 when absent. The innermost items are left out first.
    pub limit: Option<usize>,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `outline`, as `memo outline --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OutlineResult {
    /// Items in the order of the text.
    pub items: Vec<OutlineItem>,
    /// Number of items found.
    pub n_found: usize,
    /// Why there may be more items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
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
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Headings, or the name of the definition after its enclosing names.
    pub title: String,
    /// First and last line, 1-based and inclusive. A definition includes the comments above it; a heading without text
    /// of its own starts at its first section.
    pub lines: (u32, u32),
    /// Number of enclosing items.
    pub depth: u32,
    /// Signature or heading; filler letters replace credentials.
    pub text: String,
}
