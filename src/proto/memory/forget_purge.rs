//! Params and results of `memory.forget` and `memory.purge`.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Selection};

/// Params of `memory.forget` (the living go into the archive) and `memory.purge` (the archive goes for good).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which; `memory.forget` wants at least one condition.
    #[serde(flatten)]
    pub selection: Selection,
    /// Show what would go, and change nothing.
    pub dry_run: bool,
    /// The `digest` of a dry run: exactly what it showed goes, or nothing.
    pub expect: Option<String>,
}

/// Result of `memory.forget` and `memory.purge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveResult {
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// What went, or would go; newest first.
    pub memories: Vec<Brief>,
    /// Stands for exactly these memories.
    pub digest: String,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
