//! Params and results of the methods about links.

use serde::{Deserialize, Serialize};

use super::{Brief, Caller};

/// What one memory is to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// Both are about one thing; each is to the other what that is to it.
    #[default]
    RelatedTo,
    /// The first holds instead of the second.
    Supersedes,
    /// Both cannot be true; each is to the other what that is to it.
    Contradicts,
    /// The first was made out of the second.
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

    /// Returns the word for what the second is to the first.
    pub fn inverse(self) -> &'static str {
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

    /// Returns whether it is the same from either end.
    pub fn is_mutual(self) -> bool {
        self.inverse() == self.as_str()
    }
}

/// A link as one of its ends sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// What it is.
    pub kind: LinkKind,
    /// What the memory that was asked for is to `memory`: `kind`, or `superseded_by` or `source_of`.
    pub relation: String,
    /// The other end.
    #[serde(flatten)]
    pub memory: Brief,
    /// Whether the other end is in the archive.
    pub archived: bool,
    /// When they were linked.
    pub linked: String,
}

/// Params of `memory.link` and `memory.unlink`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// The first, which supersedes or was derived.
    pub from: String,
    /// The second.
    pub to: String,
    /// What the first is to the second; absent: `related_to`, or to unlink whatever it is.
    pub kind: Option<LinkKind>,
}

/// Result of `memory.link` and `memory.unlink`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkResult {
    /// The first.
    pub from: Brief,
    /// The second.
    pub to: Brief,
    /// What was linked or unlinked; nothing where it was so before.
    pub changed: Vec<LinkKind>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.links`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinksParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Where it begins.
    pub id: String,
    /// So many links away, 1 to 10; 1 when absent.
    pub depth: Option<u64>,
}

/// A memory and how far away it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Which.
    #[serde(flatten)]
    pub memory: Brief,
    /// Whether it is in the archive.
    pub archived: bool,
    /// Fewest links to it; 0 for the one that was asked for.
    pub depth: u64,
}

/// A link between two memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edge {
    /// Id of the first.
    pub from: String,
    /// Id of the second.
    pub to: String,
    /// What the first is to the second.
    pub kind: LinkKind,
    /// When they were linked.
    pub linked: String,
}

/// Result of `memory.links`: what can be reached, and the links on the way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinksResult {
    /// Nearest first; the first is the one that was asked for.
    pub memories: Vec<Node>,
    /// Oldest first.
    pub links: Vec<Edge>,
    /// Whether there are more memories within that depth than are shown.
    pub more: bool,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.resolve`: of two that contradict each other one holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// The one that holds.
    pub winner: String,
    /// The one that does not.
    pub loser: String,
}

/// Result of `memory.resolve`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveResult {
    /// The one that holds.
    pub winner: Brief,
    /// The one that does not.
    pub loser: Brief,
    /// Links that are new.
    pub linked: Vec<LinkKind>,
    /// Names of the loser's fields that are others now.
    pub changed: Vec<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
