//! Results of `status` and `doctor`.

use serde::{Deserialize, Serialize};

use super::anchor::StateCounts;
use super::{IndexProgress, NextModel, Pending};

/// Params of `status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// List every indexed file.
    pub files: bool,
    /// List every refused file with its reason.
    pub skipped: bool,
}

/// Result of `status`, as `memo status --json=full` prints it (design 13).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StatusResult {
    /// The process.
    pub daemon: DaemonInfo,
    /// Common dir of the repository, or the root outside git.
    pub repo: String,
    /// Directory of the databases.
    pub state_dir: String,
    /// Path of the socket.
    pub socket: String,
    /// Root of the worktree that was asked about, as it is in `views`.
    #[serde(default)]
    pub worktree: String,
    /// Worktrees that this daemon serves.
    pub views: Vec<ViewInfo>,
    /// Rows.
    pub counts: Counts,
    /// Sizes of files in the state directory.
    #[serde(default)]
    pub sizes: Sizes,
    /// Memories with anchors by their state in the worktree of `cwd`.
    #[serde(default)]
    pub anchors: StateCounts,
    /// Counters since the daemon started.
    pub counters: Counters,
    /// What is still to be indexed.
    pub pending: Pending,
    /// What is being indexed in the worktree of `cwd`, and how far; absent while nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
    /// Refused files by reason.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// How changes are noticed.
    pub watch: WatchInfo,
    /// `config`, `file`, `chained`, `watch-only` or `none`.
    pub hooks: String,
    /// Which model embeds.
    pub model: ModelInfo,
    /// Where the nearest vectors are found: `in memory`, above its budget `in sqlite-vec`; `loading` while they are not.
    #[serde(default)]
    pub vectors: String,
    /// Degradations with their remedies.
    pub degraded: Vec<String>,
    /// Indexed files of the view of `cwd`, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Refused files of the view of `cwd` with their reasons, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_files: Option<Vec<(String, String)>>,
}

/// The daemon's process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonInfo {
    /// Process id.
    pub pid: u32,
    /// `CARGO_PKG_VERSION`.
    pub version: String,
    /// Uptime, seconds.
    pub uptime_s: u64,
    /// Resident set, bytes.
    pub rss_bytes: u64,
}

/// One worktree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Its top directory.
    pub root: String,
    /// Content of its HEAD: a commit or a branch.
    pub head: Option<String>,
    /// Indexed files.
    pub files: u64,
    /// Indexed commits.
    #[serde(default)]
    pub commits: u64,
    /// Whether the history has older commits, which `index.commits` leaves out.
    #[serde(default)]
    pub older_commits: bool,
    /// Incremented by every change of the manifest.
    pub seq: u64,
    /// Whether nothing is known to be pending.
    pub fresh: bool,
    /// Whether each query compares the worktree, because not every change is reported there.
    #[serde(default)]
    pub polled: bool,
}

/// Rows in the stores.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Distinct contents.
    pub blobs: u64,
    /// Units of search.
    pub chunks: u64,
    /// Vectors by text.
    pub embeddings: u64,
    /// Memories.
    pub memories: u64,
}

/// Sizes of files in the state directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// index.db and its WAL, bytes.
    pub index_bytes: u64,
    /// memory.db and its WAL without backups, bytes.
    pub memory_bytes: u64,
    /// Log files, bytes.
    pub log_bytes: u64,
}

/// Counters since the daemon started.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// File-system events.
    pub events: u64,
    /// Full walks after the first.
    pub rescans: u64,
    /// Reconciles, including full walks.
    #[serde(default)]
    pub reconciles: u64,
    /// Files extracted.
    pub parses: u64,
    /// Texts embedded.
    pub embeds: u64,
    /// Searches answered.
    pub queries: u64,
}

/// How changes are noticed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WatchInfo {
    /// `inotify`, `fsevents`, `windows`, `kqueue` or `poll`.
    pub backend: String,
    /// Directories with a watch of their own.
    pub dirs: u64,
}

/// Which model embeds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Identity.
    pub id: String,
    /// Length of a vector.
    pub dims: usize,
    /// `ready`, `loading`, or `failed: <why>`.
    pub state: String,
    /// The model that is to follow, while its vectors are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextModel>,
}

/// Result of `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DoctorResult {
    /// The checks in order.
    pub checks: Vec<Check>,
}

/// Result of `doctor.acknowledge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AcknowledgeResult {
    /// What is not told from now on: each repair of a database since the last time, with the files that are concerned.
    pub acknowledged: Vec<String>,
}

/// One check of `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// Subject of the check.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// The finding.
    pub detail: String,
    /// The remedy, if it failed.
    pub hint: Option<String>,
}
