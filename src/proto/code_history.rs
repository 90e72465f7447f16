//! Params and results of `changed` and `why`.

use serde::{Deserialize, Serialize};

use super::anchor::State;
use super::{CommitInfo, Sync};

/// Params of `why`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhyParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST` or `PATH#SYMBOL`; the path relative to `cwd`, or absolute.
    pub target: String,
    /// Most commits; 10 when absent.
    pub limit: Option<usize>,
}

/// Result of `why`, as `memo why --json` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyResult {
    /// From the worktree's top.
    pub path: String,
    /// Spans of lines that were asked for, 1-based and inclusive; none: the whole path.
    pub lines: Vec<(u32, u32)>,
    /// The symbol that was asked for.
    pub symbol: Option<String>,
    /// What is remembered of it, in the order of the file.
    #[serde(default)]
    pub memories: Vec<WhyMemory>,
    /// The newest first.
    pub commits: Vec<WhyCommit>,
    /// Spans of lines that no commit has yet.
    pub uncommitted: Vec<(u32, u32)>,
    /// There are more commits than `limit`.
    pub more: bool,
    /// All that was asked for was looked at.
    pub complete: bool,
    /// Why not.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon.
    pub took_ms: f64,
}

/// A memory about what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyMemory {
    /// Its id.
    pub id: String,
    /// What it is about, where that is now: `PATH`, `PATH:10-20` or `PATH#SYMBOL`.
    pub about: String,
    /// Title, else the beginning of the first line.
    pub line: String,
    /// From the worktree's top.
    pub path: String,
    /// First and last line, as far as they are known; none: the whole file.
    pub lines: Option<(u32, u32)>,
    /// Whether the code is as it was when somebody last looked; none where it is not known.
    pub state: Option<State>,
    /// What people should know of that.
    pub note: Option<String>,
}

/// A commit that touched what was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyCommit {
    /// Which one.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of its message.
    pub subject: String,
    /// The rest of it.
    pub body: String,
    /// What the path was called in it.
    pub path: String,
    /// Spans of the lines asked for that it brought; none when a whole path was asked for.
    pub lines: Vec<(u32, u32)>,
}

/// Params of `changed`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// A revision (`HEAD~3`, `main`, an id), a time (`2026-11-01`, RFC 3339) or how long ago (`3d`, `2h30m`).
    pub since: String,
    /// Most files listed; 200 when absent.
    pub limit: Option<usize>,
    /// How fresh the index must be.
    pub sync: Sync,
    /// How long freshness may be waited for, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `changed`, as `memo changed --json` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChangedResult {
    /// The commit that the worktree is compared with; none: every commit is younger, so everything is new.
    pub base: Option<CommitInfo>,
    /// First paragraph of its message.
    pub subject: Option<String>,
    /// By path.
    pub files: Vec<ChangedFile>,
    /// Files in all.
    pub total: usize,
    /// Of those, not in `files`.
    pub left_out: usize,
    /// Everything was compared, symbols too.
    pub complete: bool,
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why something of it does not hold.
    pub reason: Option<String>,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It was not there.
    Added,
    /// It has other content.
    #[default]
    Modified,
    /// It is not there any more.
    Removed,
    /// It was under another name, with the same or similar content.
    Renamed,
}

/// A file that is not what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// From the worktree's top.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
    /// Its former name, when it was renamed.
    pub from: Option<String>,
    /// What happened to its definitions; none where it is no code.
    pub symbols: Option<ChangedSymbols>,
}

/// Definitions by their qualified names, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSymbols {
    /// Not there before.
    pub added: Vec<String>,
    /// With another text.
    pub changed: Vec<String>,
    /// Not there any more.
    pub removed: Vec<String>,
}
