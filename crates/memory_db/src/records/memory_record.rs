//! Defines a memory as it is stored.

use memod_proto::anchor::Anchor;
use memod_proto::memory::Tier;
use serde_json::{Map, Value};

/// A stored memory; times are unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Memory`")]
pub struct MemoryRecord {
    pub id: String,
    pub content: String,
    pub title: Option<String>,
    pub container: String,
    pub tags: Vec<String>,
    pub anchors: Vec<Anchor>,
    pub tier: Tier,
    pub expires_at: Option<i64>,
    pub priority: u8,
    pub confidence: f64,
    pub source: String,
    pub author: String,
    pub agent: Option<String>,
    pub created: i64,
    pub updated: i64,
    pub last_access: Option<i64>,
    pub access_count: u64,
    pub metadata: Map<String, Value>,
    pub archived_at: Option<i64>,
    pub archived_why: Option<String>,
    pub key: Option<String>,
    /// Whether the memory is shared through a file, which is the truth.
    pub shared: bool,
    /// Whether the team has the memory.
    pub team: bool,
    /// The other repository of the team from which the memory was copied.
    pub repository: Option<String>,
    /// Whether this version came from a file or the team, and this user has neither written nor confirmed it.
    pub is_unconfirmed: bool,
    /// The side of the file or conflict that the memory comes from.
    pub side: FileSide,
}

/// The side of a file or of a conflict that a memory comes from. A conflict is in a file that git could not merge, or between a
/// private memory and a file or the team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileSide {
    /// The whole file, or a memory without a file; there is no conflict.
    #[default]
    Whole,
    /// Our side of a conflict.
    Ours,
    /// The other side of a conflict.
    Theirs,
    /// A file that is not shown, because its content equals the private memory with the same id.
    EqualToPrivate,
}

impl FileSide {
    /// All sides, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Whole, Self::Ours, Self::Theirs, Self::EqualToPrivate];

    /// Returns the side with a number; [`Self::Whole`] if there is no such side.
    pub(crate) fn from_number(number: Option<i64>) -> Self {
        let at = number.and_then(|number| usize::try_from(number).ok());
        at.and_then(|at| Self::ALL.get(at).copied()).unwrap_or_default()
    }
}

impl MemoryRecord {
    /// Returns whether others have the memory, too, through a file or the team. Such a memory does not expire, and recalls do not
    /// change it.
    pub fn is_shared_or_team(&self) -> bool {
        self.shared || self.team
    }

    /// Returns whether the memory is neither archived nor expired.
    pub fn is_living(&self, now_ms: i64) -> bool {
        self.archived_at.is_none() && self.expires_at.is_none_or(|at| at > now_ms)
    }
}

/// Returns `new` with the fields of `known` that neither a file nor the team stores.
pub(crate) fn with_local_fields(known: &MemoryRecord, new: &MemoryRecord) -> MemoryRecord {
    MemoryRecord {
        id: known.id.clone(),
        team: known.team,
        shared: known.shared,
        repository: known.repository.clone(),
        is_unconfirmed: known.is_unconfirmed,
        side: known.side,
        source: known.source.clone(),
        key: known.key.clone(),
        expires_at: known.expires_at,
        last_access: known.last_access,
        access_count: known.access_count,
        archived_at: known.archived_at,
        archived_why: known.archived_why.clone(),
        ..new.clone()
    }
}
