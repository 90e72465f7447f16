//! Params and results of the methods about links.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller};
use crate::Caveats;

/// The relation of one memory to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// Both are about the same thing. Symmetric.
    #[default]
    RelatedTo,
    /// The first replaces the second.
    Supersedes,
    /// Both cannot be true. Symmetric.
    Contradicts,
    /// The first was derived from the second.
    DerivedFrom,
}

impl LinkKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::RelatedTo, Self::Supersedes, Self::Contradicts, Self::DerivedFrom];

    /// Returns the word used in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RelatedTo => "related_to",
            Self::Supersedes => "supersedes",
            Self::Contradicts => "contradicts",
            Self::DerivedFrom => "derived_from",
        }
    }

    /// Returns the word for the relation of the second to the first.
    pub fn inverse_name(self) -> &'static str {
        match self {
            Self::Supersedes => "superseded_by",
            Self::DerivedFrom => "source_of",
            mutual => mutual.as_str(),
        }
    }

    /// Returns the kind that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns whether the relation is symmetric.
    pub fn is_mutual(self) -> bool {
        self.inverse_name() == self.as_str()
    }
}

/// A link from the point of view of one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// Kind of the link.
    pub kind: LinkKind,
    /// Relation of the requested memory to this one: the word of `kind`, `superseded_by` or `source_of`.
    pub relation: String,
    /// The other end.
    #[serde(flatten)]
    pub memory: Brief,
    /// Whether the other end is archived.
    pub archived: bool,
    /// Creation time.
    pub linked: String,
}

/// Params of `memory.link` and `memory.unlink`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the first memory, which supersedes the second or was derived from it.
    pub from: String,
    /// Id of the second memory.
    pub to: String,
    /// Relation of the first to the second; when absent, `related_to` for `memory.link` and any for `memory.unlink`.
    pub kind: Option<LinkKind>,
}

/// Result of `memory.link` and `memory.unlink`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkResult {
    /// The first memory.
    pub from: Brief,
    /// The second memory.
    pub to: Brief,
    /// Kinds of links that were added or removed; empty if nothing changed.
    pub changed: Vec<LinkKind>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.links`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinksParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory at which to start.
    pub id: String,
    /// Maximum number of links to follow, 1 to 10; 1 when absent.
    pub depth: Option<u64>,
}

/// A memory with its distance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// The memory.
    #[serde(flatten)]
    pub memory: Brief,
    /// Whether the memory is archived.
    pub archived: bool,
    /// Minimum number of links from the requested memory; 0 for that memory.
    pub depth: u64,
}

/// A link between two memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edge {
    /// Id of the first memory.
    pub from: String,
    /// Id of the second memory.
    pub to: String,
    /// Relation of the first to the second.
    pub kind: LinkKind,
    /// Creation time.
    pub linked: String,
}

/// Result of `memory.links`: the reachable memories, and the links between them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinksResult {
    /// Memories, nearest first, beginning with the requested one.
    pub memories: Vec<Node>,
    /// Links between these memories, oldest first.
    pub links: Vec<Edge>,
    /// Whether more memories are within this depth than are listed.
    pub more: bool,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `memory.resolve`, which decides which of two contradicting memories holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory that holds.
    pub winner: String,
    /// Id of the memory that no longer holds.
    pub loser: String,
}

/// Result of `memory.resolve`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveResult {
    /// The memory that holds.
    pub winner: Brief,
    /// The memory that no longer holds.
    pub loser: Brief,
    /// Kinds of the new links.
    pub linked: Vec<LinkKind>,
    /// Names of the changed fields of the memory that no longer holds.
    pub changed: Vec<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
