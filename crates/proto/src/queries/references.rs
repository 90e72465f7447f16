//! Params and result of `refs`.

use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::{FreshnessLevel, WhyCommit, WhyMemory};

/// An additional part of an answer about definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferencePart {
    /// Memories about the definitions and the results.
    Memories,
    /// The newest commits that touched the files of the definitions and of the first results.
    Commits,
}

/// Params of `refs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RefsParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH#SYMBOL`, `PATH:LINE` or a name; the path is relative to `cwd` or absolute.
    pub target: String,
    /// Maximum number of uses in the result; 100 when absent.
    pub limit: Option<usize>,
    /// Parts to add to the answer.
    pub with: Vec<ReferencePart>,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `refs`, as `memo refs --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RefsResult {
    /// The definitions that the target means; several if they have one name.
    pub definitions: Vec<RefDefinition>,
    /// Uses by file and line; files with the surest uses come first.
    pub uses: Vec<RefUse>,
    /// Number of uses by certainty.
    pub counts: RefCounts,
    /// Why the list of uses may be incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// If there are no uses: files in which there may be some, at most five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsearched: Vec<UnsearchedFile>,
    /// Number of files that `unsearched` does not name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_more_unsearched: usize,
    /// Files that have the name but were read as text only, so that their uses are not known; at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_as_text: Vec<UnsearchedFile>,
    /// Number of files that `read_as_text` does not name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_more_read_as_text: usize,
    /// With `memories`: memories about the definitions and the uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<WhyMemory>,
    /// With `commits`: the newest commits that touched the files of the definitions and of the first results, at most
    /// ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<WhyCommit>,
    /// Whether the answer has the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// A file that was not searched for uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsearchedFile {
    /// Path from the worktree's top.
    pub path: String,
    /// Why it was not searched.
    pub why: String,
}

/// Returns files in words, each with the reason, and the number of `n_more` that are not named; `None` without files.
pub fn describe_unsearched(files: &[UnsearchedFile], n_more: usize) -> Option<String> {
    let named: Vec<String> = files.iter().map(|file| format!("{} ({})", file.path, file.why)).collect();
    let more = if n_more > 0 { format!(", and {n_more} more") } else { String::new() };
    (!named.is_empty()).then(|| named.join(", ") + &more)
}

/// Numbers of uses by certainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefCounts {
    /// Number of uses that scope, package or an import prove.
    pub exact: usize,
    /// Number of uses of a value whose type is inferred, of a name of several words with one definition, or of one of
    /// several overloads.
    pub likely: usize,
    /// Number of uses that have only the name in common.
    pub by_name: usize,
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefDefinition {
    /// Path from the worktree's top.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Name of the definition after its enclosing names.
    pub title: String,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
}

/// The uses of a definition that answer a search in words such as `who calls NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedUses {
    /// The command that asks for them directly, such as `memo callers NAME`.
    pub ask: String,
    /// Number of uses that were found.
    pub n_found: usize,
    /// The first of them; empty if nothing uses the definition.
    pub uses: Vec<RefUse>,
}

/// A use of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefUse {
    /// Path from the worktree's top.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Line, 1-based.
    pub line: u32,
    /// Byte in the line, 1-based.
    pub column: u32,
    /// The enclosing definition; absent at the top of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// `exact`, `likely` or `by name`.
    pub certainty: String,
    /// Text of the line without surrounding blanks; filler letters replace credentials.
    pub text: String,
}
