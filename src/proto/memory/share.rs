//! Params and results of `memory.share`, `memory.unshare` and `memory.resolve_file`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory, Selection};

/// Params of `memory.share` (writes memories to files of the worktree) and `memory.unshare` (removes the files; the memories
/// stay here).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions; at least one is required.
    #[serde(flatten)]
    pub selection: Selection,
    /// Report the files, and change nothing.
    pub dry_run: bool,
}

/// The file of a shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedFile {
    /// Id of the memory.
    pub id: String,
    /// Path from the worktree's top.
    pub path: String,
    /// Its text, in a dry run of `memory.share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Result of `memory.share` and `memory.unshare`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareResult {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The memories that were not shared (or, for `memory.unshare`, were shared) before, newest first.
    pub memories: Vec<Brief>,
    /// Their files.
    pub files: Vec<SharedFile>,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A side of a conflict of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    /// The side of the worktree.
    Ours,
    /// The side that was merged.
    Theirs,
}

/// Params of `memory.resolve_file`: ends the conflict of a memory in its file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveFileParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// The side that holds; with `text`, the side whose other fields hold, ours when absent.
    pub side: Option<SideName>,
    /// The text that holds, instead of that of a side.
    pub text: Option<String>,
}

/// Result of `memory.resolve_file`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveFileResult {
    /// The memory.
    pub memory: Memory,
    /// Path of its file from the worktree's top. `git add` with it tells git that the conflict is over; memod leaves the index of
    /// git alone.
    pub path: String,
    /// For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Returns what a reader of a memory must know of its file: that nobody here vouches for it, and which side of a conflict it is.
pub fn file_marks(trust: &str, conflict: Option<&str>) -> Vec<String> {
    let trust = (trust == "repo").then(|| "[trust: repo]".to_owned());
    trust.into_iter().chain(conflict.map(|side| format!("[conflict: {side}]"))).collect()
}
