//! Params and results of `memory.share`, `memory.unshare` and `memory.resolve_file`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory, MemoryScope, Selection};
use crate::Caveats;

/// Params of `memory.share` (writes memories to files of the worktree, or gives them to the team) and `memory.unshare`
/// (removes the files, or archives the memories for the team; they stay here).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions; at least one is required.
    #[serde(flatten)]
    pub selection: Selection,
    /// Whether to share the memories with the team instead of as files. `memory.unshare` ends either kind of sharing.
    pub team: bool,
    /// Whether to report the files, and change nothing.
    pub dry_run: bool,
}

/// The file of a shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedFile {
    /// Id of the memory.
    pub id: String,
    /// Path from the worktree's top; empty for a memory of the team.
    pub path: String,
    /// Text of the file, in a dry run of `memory.share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Result of `memory.share` and `memory.unshare`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareResult {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The affected memories, newest first: those that were not shared before or, for `memory.unshare`, were.
    pub memories: Vec<Brief>,
    /// Files of these memories.
    pub files: Vec<SharedFile>,
    /// Number of memories that are left as they were, because they were shared before or, for `memory.unshare`, were
    /// not.
    pub already: u64,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    /// The side of the worktree, or of this user.
    Ours,
    /// The merged side, or the side of others.
    Theirs,
    /// Both sides; a memory of this user alone gets an id of its own.
    Both,
}

/// Params of `memory.resolve_file`, which ends a conflict in the file of a memory, or between a memory of this user
/// alone and a file or the team.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveFileParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// The side that holds. With `text`, the side that provides the other fields; `ours` when absent.
    pub side: Option<SideName>,
    /// The text that holds, instead of the text of a side.
    pub text: Option<String>,
}

/// Result of `memory.resolve_file`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveFileResult {
    /// The memory.
    pub memory: Memory,
    /// Path of its file from the worktree's top; empty if no file changes. Run `git add` on it to tell git that the
    /// conflict is over; memod does not change git's index.
    pub path: String,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Returns whether a memory with this trust came from others and is not confirmed here.
pub fn is_unconfirmed_trust(trust: &str) -> bool {
    matches!(trust, "repo" | "team")
}

/// Returns the marks that a reader of a memory must see: that it is not confirmed here, that the team has it, the
/// other repository that owns it, its side of a conflict, and the memories that supersede it.
pub fn build_reader_marks(
    trust: &str,
    scope: MemoryScope,
    repository: Option<&str>,
    conflict: Option<&str>,
    superseded_by: &[String],
) -> Vec<String> {
    let trust = match (trust, scope) {
        (trust, _) if is_unconfirmed_trust(trust) => Some(format!("[trust: {trust}]")),
        (_, MemoryScope::Team) => Some("[team]".to_owned()),
        _ => None,
    };
    let repository = repository.map(|repository| format!("[of {repository}]"));
    let conflict = conflict.map(|side| format!("[conflict: {side}]"));
    let superseded =
        (!superseded_by.is_empty()).then(|| format!("[superseded by {}]", superseded_by.join(", ")));
    trust.into_iter().chain(repository).chain(conflict).chain(superseded).collect()
}
