//! Results of `status` and `doctor`.

use serde::{Deserialize, Serialize};

use crate::anchor::StateCounts;
use crate::{IndexProgress, NextModel, Pending};

/// Params of `status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Whether to list every indexed file.
    pub files: bool,
    /// Whether to list every refused file with its reason.
    pub skipped: bool,
}

/// Result of `status`, as `memo status --json=full` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StatusResult {
    /// The daemon's process.
    pub daemon: DaemonInfo,
    /// Common dir of the repository, or the root outside git.
    pub repo: String,
    /// Directory of the databases.
    pub state_dir: String,
    /// Path of the socket.
    pub socket: String,
    /// Root of the worktree of `cwd`, as in `views`.
    #[serde(default)]
    pub worktree: String,
    /// Worktrees that this daemon serves.
    pub views: Vec<ViewInfo>,
    /// Number of rows in the stores.
    pub counts: Counts,
    /// Sizes of files in the state directory.
    #[serde(default)]
    pub sizes: Sizes,
    /// Number of memories with anchors, by their state in the worktree of `cwd`.
    #[serde(default)]
    pub anchors: StateCounts,
    /// Counters since the daemon started.
    pub counters: Counters,
    /// Remaining work of indexing.
    pub pending: Pending,
    /// Current step of indexing in the worktree of `cwd`, and its progress; absent while nothing is indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
    /// Number of refused files by reason.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// How the daemon notices changes.
    pub watch: WatchInfo,
    /// Method of the git hooks: `config`, `file`, `chained`, `watch-only` or `none`.
    pub hooks: String,
    /// The embedding model.
    pub model: ModelInfo,
    /// Location of the vectors: `in memory`, or `in sqlite-vec` if they exceed the memory budget; `loading` until they
    /// can be searched.
    #[serde(default)]
    pub vectors: String,
    /// Degradations with their remedies.
    pub degraded: Vec<String>,
    /// Indexed files of the worktree of `cwd`, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Refused files of the worktree of `cwd` with their reasons, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_files: Option<Vec<(String, String)>>,
}

/// The daemon's process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonInfo {
    /// Process id.
    pub pid: u32,
    /// `CARGO_PKG_VERSION` of the daemon.
    pub version: String,
    /// Seconds since the daemon was started.
    pub uptime_s: u64,
    /// Resident set, bytes.
    pub rss_bytes: u64,
}

/// One worktree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Top directory of the worktree.
    pub root: String,
    /// Content of the worktree's HEAD: a commit or a branch.
    pub head: Option<String>,
    /// Number of indexed files.
    pub files: u64,
    /// Number of indexed commits.
    #[serde(default)]
    pub commits: u64,
    /// Whether the history has older commits, which the limit `index.commits` leaves out.
    #[serde(default)]
    pub older_commits: bool,
    /// Counter that every change of the manifest increments.
    pub seq: u64,
    /// Whether no change is known to be pending.
    pub fresh: bool,
    /// Whether each query compares the worktree with the index, because not every change there is reported.
    #[serde(default)]
    pub polled: bool,
}

/// Numbers of rows in the stores.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Number of distinct file contents.
    pub blobs: u64,
    /// Number of chunks, the units of search.
    pub chunks: u64,
    /// Number of vectors, one per text.
    pub embeddings: u64,
    /// Number of memories.
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
    /// Number of file-system events.
    pub events: u64,
    /// Number of full scans after the first.
    pub rescans: u64,
    /// Number of reconciles, including full scans.
    #[serde(default)]
    pub reconciles: u64,
    /// Number of files extracted.
    pub parses: u64,
    /// Number of texts embedded.
    pub embeds: u64,
    /// Number of searches answered.
    pub queries: u64,
}

/// How the daemon notices changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WatchInfo {
    /// `inotify`, `fsevents`, `windows`, `kqueue` or `poll`.
    pub backend: String,
    /// Number of directories with their own watch.
    pub dirs: u64,
}

/// The embedding model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Identity of the model.
    pub id: String,
    /// Length of a vector.
    pub dims: usize,
    /// `ready`, `loading`, or `failed: <why>`.
    pub state: String,
    /// The next model, while its vectors are computed.
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
    /// Database repairs since the last acknowledgement, each with the files that it concerns. They are not reported
    /// again.
    pub acknowledged: Vec<String>,
}

/// One check of `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// Subject of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// The finding.
    pub detail: String,
    /// The remedy, if the check failed.
    pub hint: Option<String>,
}
