//! Params and results of `memory.forget`, `memory.purge` and `memory.reset`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Selection};
use crate::Caveats;

/// Params of `memory.forget` (archives living memories), `memory.purge` (deletes archived memories) and `memory.reset`
/// (deletes all, after a backup).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions; `memory.forget` requires at least one, `memory.reset` takes none.
    #[serde(flatten)]
    pub selection: Selection,
    /// Whether to report the memories, and change nothing.
    pub dry_run: bool,
    /// The `digest` of a dry run, to remove exactly the memories that it showed, or none. `memory.reset` requires it
    /// unless `dry_run` is set, and so does a `memory.purge` without `ids`.
    pub expect: Option<String>,
}

/// Result of `memory.forget`, `memory.purge` and `memory.reset`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveResult {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The removed memories, newest first.
    pub memories: Vec<Brief>,
    /// Digest that identifies exactly these memories.
    pub digest: String,
    /// Path of the backup that `memory.reset` made before it deleted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
