//! Params and results of `changed` and `why`.

use serde::{Deserialize, Serialize};

use crate::anchor::AnchorState;
use crate::{CommitInfo, FreshnessLevel};

/// Params of `why`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WhyParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `PATH`, `PATH:LINE`, `PATH:FIRST-LAST` or `PATH#SYMBOL`, with the path relative to `cwd` or absolute; or the
    /// name of a definition.
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
    /// Memories about the target, in the order of the file.
    #[serde(default)]
    pub memories: Vec<WhyMemory>,
    /// Commits, newest first.
    pub commits: Vec<WhyCommit>,
    /// Commits that moved requested lines from elsewhere, newest first; `commits` lists the commits that wrote them.
    #[serde(default)]
    pub moves: Vec<WhyMove>,
    /// Spans of uncommitted lines.
    pub uncommitted: Vec<(u32, u32)>,
    /// Whether there are more commits than `limit`.
    pub more: bool,
    /// Whether the search was complete.
    pub complete: bool,
    /// Whether the search was complete, and all its data could be read.
    #[serde(default)]
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// Milliseconds in the daemon.
    pub took_ms: f64,
}

/// A memory about the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyMemory {
    /// Id of the memory.
    pub id: String,
    /// Present location of its anchor: `PATH`, `PATH:10-20` or `PATH#SYMBOL`.
    pub about: String,
    /// Title, or the beginning of the first line; preceded by `[trust: repo]` if nobody here has confirmed the memory.
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
    /// First paragraph of the commit's message.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// Path of the target in this commit.
    pub path: String,
    /// Spans of the requested lines that the commit introduced; empty if a whole path was requested.
    pub lines: Vec<(u32, u32)>,
}

/// A commit that moved requested lines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhyMove {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of the commit's message.
    pub subject: String,
    /// File from which the commit removed the lines.
    pub from: String,
    /// File to which the commit added the lines; the same file if it moved them within one.
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
    /// A revision (`HEAD~3`, `main`, an id), a time (`2026-11-01`, RFC 3339), an age (`3d`, `2h30m`), or two of these
    /// as `A..B`; `HEAD` when absent.
    pub since: Option<String>,
    /// The other side of the comparison, in the same forms; the worktree when absent.
    pub until: Option<String>,
    /// Only these files, and files below these directories; relative to `cwd` or absolute.
    pub path: Vec<String>,
    /// Maximum number of files; 200 when absent.
    pub limit: Option<usize>,
    /// Required freshness of the index.
    pub sync: FreshnessLevel,
    /// Maximum wait for freshness, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `changed`, as `memo changed --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ChangedResult {
    /// The commit with which the worktree is compared; null if every commit is newer or there is no commit, so that
    /// everything is new.
    pub base: Option<CommitInfo>,
    /// First paragraph of the message of `base`.
    pub subject: Option<String>,
    /// The commit with which `base` is compared; null for the worktree.
    #[serde(default)]
    pub until: Option<ChangedCommit>,
    /// Changed files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// Total number of files.
    pub total: usize,
    /// Number of files that are not in `files`.
    pub left_out: usize,
    /// The newest 20 commits since `base`, newest first, up to `until` or `HEAD`; with `path`, only commits that
    /// touched one of these paths.
    #[serde(default)]
    pub commits: Vec<ChangedCommit>,
    /// Number of commits that are not in `commits`.
    #[serde(default)]
    pub commits_left_out: usize,
    /// Whether everything was compared, including symbols.
    pub complete: bool,
    /// Whether all files were compared, with the requested freshness.
    pub fresh: bool,
    /// Why the answer is not fresh.
    pub reason: Option<String>,
    /// Why there may be more commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// A commit with its subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitInfo,
    /// First paragraph of the commit's message.
    pub subject: String,
}

/// The change of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// The file is new.
    Added,
    /// The content has changed.
    #[default]
    Modified,
    /// The file is gone.
    Removed,
    /// The file had another name, with the same or similar content.
    Renamed,
}

/// A changed file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Path from the worktree's top.
    pub path: String,
    /// The path relative to `cwd`, as a person there would type it; absent at the top of the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_path: Option<String>,
    /// Kind of the change.
    pub status: FileStatus,
    /// Former path of a renamed file.
    pub from: Option<String>,
    /// The former path relative to `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_from: Option<String>,
    /// Changes of the file's definitions; null if the file is not code, or if one of its versions cannot be read.
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
