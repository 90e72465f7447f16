//! Params and result of `refs`.

use serde::{Deserialize, Serialize};

use super::{FreshnessLevel, WhyCommit, WhyMemory};

/// A part that an answer about definitions may have besides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferencePart {
    /// Memories about them and about what was found.
    Memories,
    /// The newest commits that touched their files, and the first of those found.
    Commits,
}

/// Params of `refs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RefsParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH#SYMBOL`, `PATH:LINE` or a name; the path relative to `cwd`, or absolute.
    pub target: String,
    /// Most uses in the result; 100 when absent.
    pub limit: Option<usize>,
    /// What to add to the answer.
    pub with: Vec<ReferencePart>,
    /// Required freshness.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `refs`, as `memo refs --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RefsResult {
    /// The definitions that are meant; several where they have one name.
    pub definitions: Vec<RefDefinition>,
    /// Uses, the files with the surest first, and in a file by line.
    pub uses: Vec<RefUse>,
    /// How many uses were found, by certainty.
    pub counts: RefCounts,
    /// Why there may be more than was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// With `memories`: those about the definitions and what was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<WhyMemory>,
    /// With `commits`: the newest that touched their files, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<WhyCommit>,
    /// Whether the promise of the requested level holds.
    pub fresh: bool,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// How many uses were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefCounts {
    /// Uses that scope, package or an import prove.
    pub exact: usize,
    /// Uses of a value whose type is inferred, of a name of several words with one definition, or of one of several overloads.
    pub likely: usize,
    /// Uses that have only the name in common.
    pub by_name: usize,
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefDefinition {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Enclosing names and own name.
    pub title: String,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
}

/// A use of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefUse {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// 1-based.
    pub line: u32,
    /// Byte in the line, 1-based.
    pub column: u32,
    /// The definition around it; absent at the top of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// `exact`, `likely` or `by name`.
    pub certainty: String,
    /// The line without blanks around it; letters of a filler stand for credentials.
    pub text: String,
}
