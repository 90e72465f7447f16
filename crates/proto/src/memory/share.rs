//! Params and results of `memory.share`, `memory.unshare` and `memory.resolve_file`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory, MemoryScope, Selection};
use crate::Caveats;

/// Params of `memory.share` (writes memories to files of the worktree, or gives them to the team) and `memory.unshare` (removes
/// the files, or archives them for the team; the memories stay here).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions; at least one is required.
    #[serde(flatten)]
    pub selection: Selection,
    /// Share them with the team, and not as files. `memory.unshare` takes them out of either.
    pub team: bool,
    /// Report the files, and change nothing.
    pub dry_run: bool,
}

/// The file of a shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedFile {
    /// Id of the memory.
    pub id: String,
    /// Path from the worktree's top; empty for one of the team.
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
    /// Number of memories that were shared (or, for `memory.unshare`, were not) before: nothing was done with them.
    pub already: u64,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SideName {
    /// The side of the worktree, or of this user.
    Ours,
    /// The side that was merged, or of others.
    Theirs,
    /// Both hold: a memory of this user alone gets an id of its own.
    Both,
}

/// Params of `memory.resolve_file`: ends the conflict of a memory in its file, or of what is this user's alone with a file or the team.
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
    /// Path of its file from the worktree's top; empty where no file changes. `git add` with it tells git that the conflict is over; memod leaves the index of
    /// git alone.
    pub path: String,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Returns whether a memory with this trust came from others, and nobody here vouches for it.
pub fn is_unconfirmed(trust: &str) -> bool {
    matches!(trust, "repo" | "team")
}

/// Returns the marks that a reader of a memory must see: that nobody here vouches for it, that the team has it, of which other repository
/// it is, which side of a conflict, and what supersedes it.
pub fn reader_marks(
    trust: &str,
    scope: MemoryScope,
    repository: Option<&str>,
    conflict: Option<&str>,
    superseded_by: &[String],
) -> Vec<String> {
    let trust = match (trust, scope) {
        (trust, _) if is_unconfirmed(trust) => Some(format!("[trust: {trust}]")),
        (_, MemoryScope::Team) => Some("[team]".to_owned()),
        _ => None,
    };
    let repository = repository.map(|repository| format!("[of {repository}]"));
    let conflict = conflict.map(|side| format!("[conflict: {side}]"));
    let superseded =
        (!superseded_by.is_empty()).then(|| format!("[superseded by {}]", superseded_by.join(", ")));
    trust.into_iter().chain(repository).chain(conflict).chain(superseded).collect()
}
