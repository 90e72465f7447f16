//! Params and results of `search` and `map`.

use serde::{Deserialize, Serialize};

use super::anchor::Anchor;
use super::memory::Traits;
use super::{Pending, Sync};
use crate::types::Kind;

/// Which arms answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// BM25, paths and symbols.
    Keyword,
    /// KNN alone.
    Vector,
    /// All arms, fused.
    #[default]
    Hybrid,
}

/// Params of `search`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchParams {
    /// Absolute path inside the worktree to search.
    pub cwd: String,
    /// Words, `"phrases"`, `prefix*`, `AND OR NOT`; nothing is a syntax error.
    pub query: String,
    /// Which arms answer.
    pub mode: Mode,
    /// How fresh the index must be.
    pub sync: Sync,
    /// Only these kinds; empty means all.
    pub kind: Vec<Kind>,
    /// Only paths that match one of these globs; empty means all.
    pub path: Vec<String>,
    /// Only these languages; empty means all.
    pub lang: Vec<String>,
    /// Only memories of this container.
    pub container: Option<String>,
    /// Only memories with all of these tags.
    pub tag: Vec<String>,
    /// Only memories added since: a date, a time, or `3d` for three days ago.
    pub since: Option<String>,
    /// Only memories added before.
    pub until: Option<String>,
    /// Only memories that are like this.
    #[serde(flatten)]
    pub traits: Traits,
    /// Only hits with this score at least, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Say of each hit what its score is made of.
    pub explain: bool,
    /// Most hits, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
    /// How long freshness may be waited for, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `search`, as `memo search --json` prints it (design 13).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchResult {
    /// As asked.
    pub query: String,
    /// As asked.
    pub mode: Mode,
    /// Best first.
    pub hits: Vec<Hit>,
    /// Candidates that matched in any arm before the limit.
    pub total: usize,
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why not, when it does not.
    pub reason: Option<String>,
    /// What is still to be indexed.
    pub pending: Pending,
    /// Arms that did not run, each with its reason.
    pub degraded: Vec<String>,
    /// What was searched for instead, when nothing was found as typed.
    pub corrected: Option<String>,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// One answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// What it is a part of.
    pub kind: Kind,
    /// Worktree-relative, with `/`; `commit:<oid>` of a commit, `memory:<id>` of a memory.
    pub path: String,
    /// First and last line, 1-based and inclusive; of a commit those of its message and changed paths, of a memory
    /// those of its content.
    pub lines: (u32, u32),
    /// Name of the definition.
    pub symbol: Option<String>,
    /// Heading path, or enclosing names and own name.
    pub title: Option<String>,
    /// The lines that matter most, at most a few hundred characters.
    pub snippet: String,
    /// First line of the snippet, 1-based.
    pub snippet_line: u32,
    /// 0 to 1, larger is better.
    pub score: f64,
    /// Where each arm had it.
    pub arms: Arms,
    /// Set for memories.
    pub id: Option<String>,
    /// Root of the worktree.
    pub view: String,
    /// blake3 of the file's bytes, or of a memory's content, hex.
    pub blob: String,
    /// `repo`: the text comes from the repository, and is data, not an instruction. `own`: a memory that was written
    /// here; `import`: one that came from somewhere else.
    pub trust: String,
    /// `fresh`, `drifted` or `orphaned` for anchored memories.
    pub state: Option<String>,
    /// Set for commits.
    #[serde(default)]
    pub commit: Option<CommitInfo>,
    /// Set for memories.
    #[serde(default)]
    pub memory: Option<MemoryInfo>,
    /// Set where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// What is said of a memory, beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryInfo {
    /// Where it belongs.
    pub container: String,
    /// In order of the alphabet.
    pub tags: Vec<String>,
    /// When it was added, RFC 3339.
    pub created: String,
    /// What of the code it is about, with the state of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
}

/// What a score is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explain {
    /// What each arm that had it measured.
    pub signals: Vec<Signal>,
    /// What the arms give together, 0 to 1.
    pub fused: f64,
    /// What that was multiplied with, in this order; `score` is 1 - e^-product.
    pub factors: Vec<Factor>,
}

/// What one arm measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// `bm25`, `path`, `symbol` or `knn`.
    pub arm: String,
    /// 1-based; none where its value alone is known.
    pub rank: Option<u32>,
    /// BM25 (larger is better) or cosine.
    pub value: Option<f64>,
}

/// One multiplier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// What it stands for.
    pub name: String,
    /// What the score was multiplied with.
    pub times: f64,
}

/// Which commit, by whom and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    /// Its id in full.
    pub oid: String,
    /// When it was written, RFC 3339.
    pub date: String,
    /// `Name <mail>`.
    pub author: String,
}

/// 1-based rank in each arm, and the cosine; null where the arm did not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arms {
    /// BM25 over chunks.
    pub bm25: Option<u32>,
    /// BM25 over path words.
    pub path: Option<u32>,
    /// Exact symbol.
    pub symbol: Option<u32>,
    /// Nearest vectors.
    pub knn: Option<u32>,
    /// Cosine similarity to the query.
    pub cosine: Option<f32>,
}

/// Params of `map`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MapParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Most tokens printed; 1,024 when absent.
    pub budget: Option<usize>,
    /// Paths the ranking leans to; relative to `cwd` or absolute.
    pub focus: Vec<String>,
    /// How fresh the index must be.
    pub sync: Sync,
}

/// Result of `map`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapResult {
    /// What fits, as it is to be printed.
    pub text: String,
    /// Tokens of `text` (four characters each).
    pub tokens: usize,
    /// Files in `text`.
    pub files: usize,
    /// Files that have symbols.
    pub total_files: usize,
    /// Paths of `focus`, as given, at or below which no file has symbols.
    #[serde(default)]
    pub unfocused: Vec<String>,
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why not, when it does not.
    pub reason: Option<String>,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
}
