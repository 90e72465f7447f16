//! Params and results of `memory.recall` and `memory.promote`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Caller, Memory, Traits};
use crate::proto::Mode;

/// Params of `memory.recall`: a search among the memories that says so to those it finds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// As for `search`.
    pub query: String,
    /// Which arms answer.
    pub mode: Mode,
    /// Only of this container.
    pub container: Option<String>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// Only added since: a date, a time, or `3d` for three days ago.
    pub since: Option<String>,
    /// Only added before.
    pub until: Option<String>,
    /// Only that are like this.
    #[serde(flatten)]
    pub traits: Traits,
    /// At most so many, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
}

/// A memory that was recalled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recalled {
    /// As it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// 0 to 1.
    pub score: f64,
    /// What recalling did to it: `{field: [before, after]}`; nothing: it is only remotely like the query.
    pub changed: Map<String, Value>,
}

/// Result of `memory.recall`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallResult {
    /// Best first.
    pub memories: Vec<Recalled>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.promote`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PromoteParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which one.
    pub id: String,
}
