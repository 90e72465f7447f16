//! Params and result of `callers`, `callees`, `impact`, `tests` and `implements`.

use serde::{Deserialize, Serialize};

use super::{FreshnessLevel, RefDefinition, ReferencePart, WhyCommit, WhyMemory};

/// Params of the methods that follow uses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReachParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH#SYMBOL`, `PATH:LINE`, a name, or for `impact` and `tests` also a path; the path relative to `cwd`, or absolute.
    pub target: Option<String>,
    /// Instead of a target, for `impact` and `tests`: the definitions that were changed since this revision.
    pub since: Option<String>,
    /// Most uses between a definition and what is found; when absent 1 for `callers` and `callees`, 8 for the others.
    pub depth: Option<u32>,
    /// Most definitions in the result; 100 when absent.
    pub limit: Option<usize>,
    /// What to add to the answer.
    pub with: Vec<ReferencePart>,
    /// Required freshness.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of the methods that follow uses, as `memo callers --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReachResult {
    /// The definitions that are asked for, at most 100 of them.
    pub definitions: Vec<RefDefinition>,
    /// How many they are, with those that were removed.
    pub n_definitions: usize,
    /// Of a change: `PATH#SYMBOL` of definitions that were removed, at most 100; what uses such a name is among `found`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Definitions that were reached. `callers` and `callees`: the nearest first; `impact`, `tests` and `implements`: those that
    /// most probably are concerned first.
    pub found: Vec<ReachedDefinition>,
    /// How many were reached.
    pub n_found: usize,
    /// How many of them are tests.
    pub n_tests: usize,
    /// Of `callees`: calls of what is defined elsewhere, or of a name that too many definitions have.
    pub n_untold: usize,
    /// Why more might be reached than was.
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

/// A definition, or the top of a file, that was reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReachedDefinition {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Enclosing names and own name; absent at the top of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// First and last line of the definition; of a file's top, the line of the use.
    pub lines: (u32, u32),
    /// Line of the use that led here: in this definition, or for `callees` in the one that calls it.
    pub line: u32,
    /// That line; for `callees` the line that names the definition. Letters of a filler stand for credentials.
    pub text: String,
    /// Number of uses between it and a definition that was asked for; 0 of a test that was asked for itself, and of one
    /// that only its name or its words point to.
    pub depth: u32,
    /// Number in `found`, from 0, of what it uses or what calls it; absent for the nearest, and if that is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<usize>,
    /// `exact`, `likely` or `by name`: the least sure use on the way; `similar` of a test that only has similar words.
    pub certainty: String,
    /// Whether it is a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
}
