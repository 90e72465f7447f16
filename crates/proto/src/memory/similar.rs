//! Params and results of the methods about similar memories.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory};
use crate::Caveats;

/// A memory that the added text may contradict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contradicted {
    /// Which.
    #[serde(flatten)]
    pub memory: Brief,
    /// `numbers` or `negation`: nearly the same text except for these; `title`: a similar title.
    pub by: String,
    /// Cosine of the two, if that is the reason.
    pub cosine: Option<f64>,
}

/// Params of `memory.related`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory, or a prefix of it.
    pub id: String,
    /// Maximum number of memories, 1 to 200; 10 when absent.
    pub limit: Option<usize>,
}

/// Result of `memory.related`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedResult {
    /// The requested memory.
    pub id: String,
    /// Linked memories, then others, the nearest first.
    pub memories: Vec<Related>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A memory that is related to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Related {
    /// Which.
    #[serde(flatten)]
    pub memory: Brief,
    /// Cosine; null if one of the two has no vector.
    pub cosine: Option<f64>,
    /// Relations of the requested memory to this one.
    pub relations: Vec<String>,
}

/// Params of `memory.dedupe`, which changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Only this container.
    pub container: Option<String>,
    /// Minimum cosine, 0.5 to 1; `memory.near_cosine` when absent.
    pub threshold: Option<f64>,
}

/// Result of `memory.dedupe`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeResult {
    /// Groups, the largest first.
    pub groups: Vec<Group>,
    /// The minimum cosine.
    pub threshold: f64,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Near-duplicates in one container.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// The memory that stays, as proposed.
    pub keep: Brief,
    /// Memories that are merged into it.
    pub merge: Vec<Brief>,
    /// Lowest cosine of neighbours.
    pub cosine: f64,
    /// Identifies exactly these memories in their present versions.
    pub digest: String,
}

/// Params of `memory.merge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory that stays.
    pub keep: String,
    /// Ids of memories that are merged into it and archived.
    pub ids: Vec<String>,
    /// The `digest` of a group: exactly that group is merged, or nothing.
    pub expect: Option<String>,
}

/// Result of `memory.merge`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeResult {
    /// The merged memory.
    pub memory: Memory,
    /// Archived memories.
    pub merged: Vec<Brief>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}
