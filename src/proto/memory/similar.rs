//! Params and results of the methods about similar memories.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory};

/// A memory that what was added may contradict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contradicted {
    /// Which.
    #[serde(flatten)]
    pub memory: Brief,
    /// `numbers` or `negation`: nearly the same text, but for these; `title`: it has a similar title.
    pub by: String,
    /// How near the two are, where that is why.
    pub cosine: Option<f64>,
}

/// Params of `memory.related`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Related to which; a beginning will do.
    pub id: String,
    /// Most memories, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
}

/// Result of `memory.related`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedResult {
    /// The memory that was asked about.
    pub id: String,
    /// Those that are linked, then the others; the nearest first.
    pub memories: Vec<Related>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A memory that is related to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Related {
    /// Which.
    #[serde(flatten)]
    pub memory: Brief,
    /// How near in meaning; none where one of the two has no vector.
    pub cosine: Option<f64>,
    /// What the memory that was asked about is to this one, by links.
    pub relations: Vec<String>,
}

/// Params of `memory.dedupe`; nothing is changed by it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Only this container.
    pub container: Option<String>,
    /// From this cosine on, 0.5 to 1; else the model's bound.
    pub threshold: Option<f64>,
}

/// Result of `memory.dedupe`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeResult {
    /// Most memories first.
    pub groups: Vec<Group>,
    /// From which cosine on.
    pub threshold: f64,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Memories of one container that say nearly the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// The proposal: this one stays.
    pub keep: Brief,
    /// These are merged into it.
    pub merge: Vec<Brief>,
    /// How near the farthest neighbours are.
    pub cosine: f64,
    /// Stands for exactly these memories as they are.
    pub digest: String,
}

/// Params of `memory.merge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which stays.
    pub keep: String,
    /// What goes into it, and then into the archive.
    pub ids: Vec<String>,
    /// The `digest` of a group: exactly that is merged, or nothing.
    pub expect: Option<String>,
}

/// Result of `memory.merge`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeResult {
    /// As it is now.
    pub memory: Memory,
    /// What went into the archive.
    pub merged: Vec<Brief>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
