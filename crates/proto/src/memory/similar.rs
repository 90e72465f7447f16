//! Params and results of the methods about similar memories.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller, Memory};
use crate::Caveats;

/// A memory that the added text may contradict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contradicted {
    /// The memory.
    #[serde(flatten)]
    pub memory: Brief,
    /// `numbers`, `negation` or `opposite` (a word such as `before` for `after`) if the texts are nearly the same except for these;
    /// `title` if the titles are similar.
    pub by: String,
    /// Cosine of the two memories, if it is the reason.
    pub cosine: Option<f64>,
}

/// Params of `memory.related`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedParams {
    /// The caller, with its working directory, kind of client and agent name.
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
    /// Id of the requested memory.
    pub id: String,
    /// Linked memories, then others, nearest first.
    pub memories: Vec<Related>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A memory that is related to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Related {
    /// The memory.
    #[serde(flatten)]
    pub memory: Brief,
    /// Cosine of the two memories; null if one has no vector.
    pub cosine: Option<f64>,
    /// Relations of the requested memory to this one.
    pub relations: Vec<String>,
}

/// Params of `memory.dedupe`, which changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeParams {
    /// The caller, with its working directory, kind of client and agent name.
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
    /// Groups, largest first.
    pub groups: Vec<Group>,
    /// The first pairs that are no near-duplicates, because their texts are nearly the same but differ in what they say. Linked
    /// memories are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<DifferingPair>,
    /// The minimum cosine that applied.
    pub threshold: f64,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Two memories of one container with nearly the same text that may contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DifferingPair {
    /// The older memory.
    pub older: Brief,
    /// The newer memory.
    pub newer: Brief,
    /// `numbers`, `negation` or `opposite`, as in [`Contradicted`].
    pub by: String,
    /// Cosine of the two memories.
    pub cosine: f64,
}

/// Near-duplicates in one container.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// The memory that is proposed to stay.
    pub keep: Brief,
    /// Memories that are proposed to be merged into it.
    pub merge: Vec<Brief>,
    /// Lowest cosine between neighbours in the group.
    pub cosine: f64,
    /// Digest that identifies exactly these memories in their present versions.
    pub digest: String,
}

/// Params of `memory.merge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory that stays.
    pub keep: String,
    /// Ids of the memories to merge into it and archive.
    pub ids: Vec<String>,
    /// The `digest` of a group, to merge exactly that group or nothing.
    pub expect: Option<String>,
}

/// Result of `memory.merge`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeResult {
    /// The merged memory.
    pub memory: Memory,
    /// The archived memories.
    pub merged: Vec<Brief>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
