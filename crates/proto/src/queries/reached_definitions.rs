//! Params and result of `callers`, `callees`, `impact`, `tests` and `implements`.

use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::{FreshnessLevel, RefDefinition, ReferencePart, UnsearchedFile, WhyCommit, WhyMemory};

/// Params of the methods that follow uses.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReachParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH#SYMBOL`, `PATH:LINE`, a name, or for `impact` and `tests` also a path; the path is relative to `cwd` or
    /// absolute.
    pub target: Option<String>,
    /// For `impact` and `tests`, instead of a target: a revision, to start from the definitions that were changed
    /// since.
    pub since: Option<String>,
    /// For `tests`: what has changed, in words. Tests with these words come first among equals, and tests that only have
    /// similar words are searched for with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Maximum number of uses between a definition and a result; when absent, 1 for `callers` and `callees`, 2 for
    /// `impact`, 8 for the others.
    pub depth: Option<u32>,
    /// For `impact` and `tests`: also list uses that have only the name in common, and for `tests` files with similar
    /// words. Otherwise they are counted, and listed only if there is nothing else.
    pub all: bool,
    /// Maximum number of definitions in the result; when absent, 100, and for `tests` 20, at most five of a file.
    pub limit: Option<usize>,
    /// Parts to add to the answer.
    pub with: Vec<ReferencePart>,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of the methods that follow uses, as `memo callers --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReachResult {
    /// The requested definitions, at most 100.
    pub definitions: Vec<RefDefinition>,
    /// Number of requested definitions, including removed ones.
    pub n_definitions: usize,
    /// With `since`: `PATH#SYMBOL` of removed definitions, at most 100; `found` includes definitions that use such a
    /// name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Definitions that were reached. For `callers` and `callees`, the nearest come first; for `tests` and
    /// `implements`, the most probably affected; for `impact` those of the most probably affected file.
    pub found: Vec<ReachedDefinition>,
    /// Number of definitions that were reached.
    pub n_found: usize,
    /// For `impact` and `tests` without `all`: number of definitions that are not listed, because only names lead to
    /// them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_by_name: usize,
    /// For `tests` without `all`: number of files that are not listed, because they only have similar words.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_similar: usize,
    /// For `tests`: lines of tests that replace what is asked about by a fake, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fakes: Vec<NeighbourLine>,
    /// For `tests`: documents that name what is asked about, at most three, and the manifest that says how its tests
    /// run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<NeighbourLine>,
    /// Number of tests among the reached definitions.
    pub n_tests: usize,
    /// For `callees`: number of calls of definitions elsewhere, or of a name that too many definitions have.
    pub n_untold: usize,
    /// For `callers`: number of further definitions that use it without a call, for example as an argument.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_passing: usize,
    /// Why more definitions might be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// If nothing was reached: files in which there may be uses, at most five.
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
    /// With `memories`: memories about the requested and the reached definitions.
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

/// A definition that was reached, or the top of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReachedDefinition {
    /// Path from the worktree's top.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Name of the definition after its enclosing names; absent at the top of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// First and last line of the definition; for the top of a file, the line of the use.
    pub lines: (u32, u32),
    /// Line of the use that led here: in this definition or, for `callees`, in the definition that calls it.
    pub line: u32,
    /// Text of that line or, for `callees`, the signature of the definition; filler letters replace credentials.
    pub text: String,
    /// For `callees`: line of the signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_line: Option<u32>,
    /// Number of uses between it and a requested definition; 0 for a requested test, and for a test that only its name
    /// or its words point to.
    pub depth: u32,
    /// Index in `found`, from 0, of the definition that it uses or that calls it; absent for the nearest, and if that
    /// definition is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<usize>,
    /// Certainty of the least sure use on the way: `exact`, `likely` or `by name`; `similar` for a test that only has
    /// similar words.
    pub certainty: String,
    /// For a test, the name by which its runner knows it: `parser > parses empty input`, `TestParse/empty`; absent if
    /// that is the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Whether a test is run with several inputs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_parametrised: bool,
    /// For `tests`, on the last one of a file: number of further tests of the file that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_more_in_file: usize,
    /// For `impact` of a change: the name of a removed definition that it still uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_name: Option<String>,
    /// Whether the definition is a test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
}

/// A line of another file that concerns what is asked about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeighbourLine {
    /// Path from the worktree's top.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Line, 1-based.
    pub line: u32,
    /// Text of that line; filler letters replace credentials.
    pub text: String,
}
