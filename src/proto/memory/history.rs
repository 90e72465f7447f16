//! Params and result of `memory.history`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One change of a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// When.
    pub at: String,
    /// `add`, `update`, `forget`, `expire`, `restore`, `salvage`, `unite`, `link`, `unlink`, `resolve`, `recall`,
    /// `promote` or `consolidate`.
    pub action: String,
    /// Who.
    pub author: String,
    /// Through what.
    pub source: String,
    /// By field: `[before, after]`.
    pub fields: Map<String, Value>,
}

/// Result of `memory.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryResult {
    /// The memory's whole id.
    pub id: String,
    /// Oldest first.
    pub changes: Vec<Change>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
