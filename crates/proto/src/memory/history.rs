//! Params and result of `memory.history`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Caveats;

/// One change of a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Time of the change.
    pub at: String,
    /// `add`, `update`, `forget`, `expire`, `restore`, `salvage`, `unite`, `link`, `unlink`, `resolve`, `recall`,
    /// `promote` or `consolidate`.
    pub action: String,
    /// Author.
    pub author: String,
    /// Source: `cli` or `api`.
    pub source: String,
    /// Changed fields, each with `[before, after]`.
    pub fields: Map<String, Value>,
}

/// Result of `memory.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryResult {
    /// Full id of the memory.
    pub id: String,
    /// Changes, oldest first.
    pub changes: Vec<Change>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
