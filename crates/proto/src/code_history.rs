//! Params and results of `changed` and `why`.

use serde::{Deserialize, Serialize};

use super::anchor::AnchorState;
use super::{CommitInfo, FreshnessLevel};

/// Params of `why`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhyParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST` or `PATH#SYMBOL`, the path relative to `cwd`, or absolute; or the name of a definition.
    pub target: String,
    /// Maximum number of commits; 10 when absent.
    pub limit: Option<usize>,
}

/// Result of `why`, as `memo why --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyResult {
    /// Path from the worktree's top.
    pub path: String,
    /// Requested spans of lines, 1-based and inclusive; empty for the whole path.
    pub lines: Vec<(u32, u32)>,
    /// The requested symbol.
    pub symbol: Option<String>,
    /// Memories about it, in the order of the file.
    #[serde(default)]
    pub memories: Vec<WhyMemory>,
    /// Commits, newest first.
    pub commits: Vec<WhyCommit>,
    /// Commits that moved requested lines from elsewhere, newest first; `commits` has those that wrote them.
    #[serde(default)]
    pub moves: Vec<WhyMove>,
    /// Spans of uncommitted lines.
    pub uncommitted: Vec<(u32, u32)>,
    /// Whether there are more commits than `limit`.
    pub more: bool,
    /// Whether the search was complete.
    pub complete: bool,
    /// Whether it was, and all that it is made of could be read.
    #[serde(default)]
    pub fresh: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon.
    pub took_ms: f64,
}

/// A memory about the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyMemory {
    /// Its id.
    pub id: String,
    /// The present place of its anchor: `PATH`, `PATH:10-20` or `PATH#SYMBOL`.
    pub about: String,
    /// Title, or the beginning of the first line; after `[trust: repo]` where nobody here vouches for it.
    pub line: String,
    /// Path from the worktree's top.
    pub path: String,
    /// First and last line, if known; null for the whole file.
    pub lines: Option<(u32, u32)>,
    /// Whether the code has changed since the last confirmation; null if unknown.
    pub state: Option<AnchorState>,
    /// A note on the state.
    pub note: Option<String>,
}

/// A commit that touched the target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of its message.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// Name of the path in it.
    pub path: String,
    /// Spans of the requested lines that it introduced; empty if a whole path was requested.
    pub lines: Vec<(u32, u32)>,
}

/// A commit that moved requested lines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyMove {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of its message.
    pub subject: String,
    /// The file that it removed them from.
    pub from: String,
    /// The file that it added them to; the same if it moved them within a file.
    pub to: String,
    /// Spans of the requested lines.
    pub lines: Vec<(u32, u32)>,
}

/// Params of `changed`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// A revision (`HEAD~3`, `main`, an id), a time (`2026-11-01`, RFC 3339) or an age (`3d`, `2h30m`), or two of them as `A..B`;
    /// `HEAD` when absent.
    pub since: Option<String>,
    /// The same for the other side; the worktree when absent.
    pub until: Option<String>,
    /// Only these files, and those below these directories, relative to `cwd` or absolute.
    pub path: Vec<String>,
    /// Maximum number of files; 200 when absent.
    pub limit: Option<usize>,
    /// How fresh the index must be.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `changed`, as `memo changed --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChangedResult {
    /// The commit that the worktree is compared with; null if every commit is newer or there is none, so that everything is new.
    pub base: Option<CommitInfo>,
    /// First paragraph of its message.
    pub subject: Option<String>,
    /// The commit that `base` is compared with; null for the worktree.
    #[serde(default)]
    pub until: Option<ChangedCommit>,
    /// Changed files, by path.
    pub files: Vec<ChangedFile>,
    /// Total number of files.
    pub total: usize,
    /// Number of files that are not in `files`.
    pub left_out: usize,
    /// The newest 20 commits since `base`, newest first, up to `until` or `HEAD`; with `path`, those that touched one.
    #[serde(default)]
    pub commits: Vec<ChangedCommit>,
    /// Number of commits that are not in `commits`.
    #[serde(default)]
    pub commits_left_out: usize,
    /// Whether everything was compared, including symbols.
    pub complete: bool,
    /// Whether all files were compared, and the promise of the requested level holds.
    pub fresh: bool,
    /// Why it is not fresh.
    pub reason: Option<String>,
    /// Why there may be more commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// A commit in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of its message.
    pub subject: String,
}

/// The change of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// Its content has changed.
    #[default]
    Modified,
    /// It is gone.
    Removed,
    /// It had another name, with the same or similar content.
    Renamed,
}

/// A changed file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Path from the worktree's top.
    pub path: String,
    /// The same relative to `cwd`, as a person there would type it; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// Its former name, if it was renamed.
    pub from: Option<String>,
    /// The same relative to `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_from: Option<String>,
    /// Changes of its definitions; null if it is not code, or if one of its contents cannot be read.
    pub symbols: Option<ChangedSymbols>,
}

/// Definitions by their qualified names, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSymbols {
    /// New definitions.
    pub added: Vec<String>,
    /// Changed definitions.
    pub changed: Vec<String>,
    /// Removed definitions.
    pub removed: Vec<String>,
}
