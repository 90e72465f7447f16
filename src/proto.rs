//! What crosses the socket?
//!
//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one object a line, UTF-8. Only serializable
//! types live here. Unknown params are ignored, keys are added and never renamed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::types::Kind;

/// Version of the protocol; raised when a client must not talk to an older daemon.
pub const PROTOCOL: u32 = 1;

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Always `2.0`.
    #[serde(default)]
    pub jsonrpc: String,
    /// Echoed in the reply; absent in a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// `search`, `status`, …
    pub method: String,
    /// An object; `cwd` in it selects the view.
    #[serde(default)]
    pub params: Value,
}

/// One reply: `result` or `error`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Response {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The call's id; null when it could not be read.
    pub id: Value,
    /// What the method returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it returned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// A JSON-RPC code (negative) as listed in [`code`].
    pub code: i64,
    /// What happened, to which path, why.
    pub message: String,
    /// `{hint, retry_after_ms}`, each where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

/// What to do about a failed call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorData {
    /// One sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Set with [`code::BUSY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Error codes; those of JSON-RPC 2.0 section 5.1, then our own from -32000 down.
pub mod code {
    /// Not JSON, not UTF-8, or too deep.
    pub const PARSE: i64 = -32700;
    /// Not a request object.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const NO_METHOD: i64 = -32601;
    /// Params are missing or of the wrong type.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The request panicked or met an unexpected state; the daemon goes on.
    pub const INTERNAL: i64 = -32603;
    /// Over a limit; try again after `retry_after_ms`.
    pub const BUSY: i64 = -32000;
    /// `cwd` is not in this repository.
    pub const WRONG_REPOSITORY: i64 = -32001;
    /// The daemon is draining.
    pub const STOPPING: i64 = -32002;
    /// The named thing is not there.
    pub const NOT_FOUND: i64 = -32003;
    /// The store failed (disk full, input/output error, corruption).
    pub const STORE: i64 = -32004;
}

/// How much must be indexed before the answer; design 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// The current snapshot; every hit is still checked against the disk.
    None,
    /// Everything written before the request, lexically.
    #[default]
    Fs,
    /// `fs` and the embeddings.
    Full,
    /// `fs` and an lstat pass over the manifest.
    Strict,
}

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

/// Params of `hello`; the client's first call on a connection, optional for everybody else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HelloParams {
    /// `CARGO_PKG_VERSION` of the client.
    pub version: String,
    /// [`PROTOCOL`] of the client.
    pub protocol: u32,
}

/// Result of `hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HelloResult {
    /// `CARGO_PKG_VERSION` of the daemon.
    pub version: String,
    /// [`PROTOCOL`] of the daemon.
    pub protocol: u32,
    /// Its process id.
    pub pid: u32,
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

/// What is still to be indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Files known or suspected to differ from the index.
    pub files: u64,
    /// Chunks without their vector.
    pub embeddings: u64,
}

/// One answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// What it is a part of.
    pub kind: Kind,
    /// Worktree-relative, with `/`.
    pub path: String,
    /// First and last line, 1-based and inclusive.
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
    /// blake3 of the file's bytes, hex.
    pub blob: String,
    /// `repo`: the text comes from the repository, and is data, not an instruction.
    pub trust: String,
    /// `fresh`, `drifted` or `orphaned` for anchored memories.
    pub state: Option<String>,
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
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why not, when it does not.
    pub reason: Option<String>,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
}

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

/// Result of `status`, as `memo status --json` prints it (design 13).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StatusResult {
    /// The process.
    pub daemon: DaemonInfo,
    /// Common dir of the repository, or the root outside git.
    pub repo: String,
    /// Where the databases are.
    pub state_dir: String,
    /// Path of the socket.
    pub socket: String,
    /// Worktrees this daemon serves.
    pub views: Vec<ViewInfo>,
    /// Rows.
    pub counts: Counts,
    /// Since the daemon started.
    pub counters: Counters,
    /// What is still to be indexed.
    pub pending: Pending,
    /// Refused files by reason.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// How changes are noticed.
    pub watch: WatchInfo,
    /// `config`, `file`, `chained`, `watch-only` or `none`.
    pub hooks: String,
    /// Which model embeds.
    pub model: ModelInfo,
    /// What does not work, each with its remedy.
    pub degraded: Vec<String>,
    /// Indexed files of the view of `cwd`, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Refused files of the view of `cwd`, when asked for: path and reason.
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
    /// Seconds since it started.
    pub uptime_s: u64,
    /// Resident set, bytes.
    pub rss_bytes: u64,
}

/// One worktree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Its top directory.
    pub root: String,
    /// Commit or branch its HEAD names, as written there.
    pub head: Option<String>,
    /// Indexed files.
    pub files: u64,
    /// Raised by every change of the manifest.
    pub seq: u64,
    /// Nothing known to be pending.
    pub fresh: bool,
    /// Not every change is reported here: each query compares the worktree.
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

/// What was done since the daemon started.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// File-system events taken.
    pub events: u64,
    /// Full walks after the first.
    pub rescans: u64,
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
}

/// Params of `sync`: bring the view of `cwd` up to date and wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// How fresh the index must be.
    pub sync: Sync,
    /// How long to wait, ms; 1,000 when absent.
    pub wait_ms: Option<u64>,
}

/// Result of `sync`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SyncResult {
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why not, when it does not.
    pub reason: Option<String>,
    /// What is still to be indexed.
    pub pending: Pending,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// Files to look at when the current walk began, for a progress bar; 0 when none runs.
    pub total_files: u64,
    /// Of those, done.
    pub done_files: u64,
    /// Chunks of the view in all, for a progress bar.
    pub total_chunks: u64,
}

/// Params of the methods that need no more than a place: `reindex`, `doctor`, `stop`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaceParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
}

/// Result of `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DoctorResult {
    /// Each check in order.
    pub checks: Vec<Check>,
}

/// One check of `doctor`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// What was seen.
    pub detail: String,
    /// What to do, where it is not well.
    pub hint: Option<String>,
}

/// What the endpoint file says in its one line of JSON: where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Path of the socket, or name of the pipe.
    pub socket: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// `CARGO_PKG_VERSION` of the daemon.
    pub version: String,
    /// [`PROTOCOL`] of the daemon.
    pub protocol: u32,
}

/// The one line that a starting daemon prints: `{"ready":true}` or `{"error":…,"hint":…}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ready {
    /// The socket accepts connections.
    pub ready: bool,
    /// Why the daemon does not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
