//! Params and results of `memory.recall` and `memory.promote`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Caller, Memory, Tier, Traits};
use crate::{Caveats, SearchMode};

/// Params of `memory.recall`, which searches memories and extends the lifetime of those found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// The query, as for `search`.
    pub query: String,
    /// Search mode.
    pub mode: SearchMode,
    /// Only memories of this container.
    pub container: Option<String>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only memories added since this date, time or age, such as `3d` for three days ago.
    pub since: Option<String>,
    /// Only memories added before this date, time or age.
    pub until: Option<String>,
    /// Conditions on the fields of memories.
    #[serde(flatten)]
    pub traits: Traits,
    /// Maximum number of memories, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
}

/// A memory that was recalled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recalled {
    /// The memory in its present state.
    #[serde(flatten)]
    pub memory: Memory,
    /// Score, 0 to 1.
    pub score: f64,
    /// Fields that the recall changed: `{field: [before, after]}`; empty if the memory is only remotely similar to the
    /// query.
    pub changed: Map<String, Value>,
}

/// Result of `memory.recall`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallResult {
    /// Memories, best first.
    pub memories: Vec<Recalled>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.promote`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PromoteParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// Tier to which the memory moves up; the next one when absent.
    pub to: Option<Tier>,
}
