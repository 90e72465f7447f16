//! Params and results of the methods about memories.
//!
//! Every method has `cwd`; those that write have a `request` too: a name of the caller's choice for this very request.
//! When it comes again (the daemon died before it could answer), it gets the same answer and changes nothing. A name that
//! was used for another method or other params is an error.
//! `notice` in a result is for a person: memories were restored, and from what.

mod add_update;
mod consolidate;
mod forget_purge;
mod history;
mod links;
mod recall_promote;
mod similar;
mod tally;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::add_update::{AddParams, AddResult, ConfirmParams, FieldParams, UpdateParams, UpdateResult};
pub use self::consolidate::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, Consolidated};
pub use self::forget_purge::{RemoveParams, RemoveResult};
pub use self::history::{Change, HistoryResult};
pub use self::links::{
    Edge, Link, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams,
    ResolveResult,
};
pub use self::recall_promote::{PromoteParams, RecallParams, RecallResult, Recalled};
pub use self::similar::{
    Contradicted, DedupeParams, DedupeResult, Group, MergeParams, MergeResult, Related, RelatedParams,
    RelatedResult,
};
pub use self::tally::{BackupInfo, StatsResult, Tally, TallyParams, TallyResult};
use super::anchor::{Anchor, State};

/// How long a memory stays when nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 6 hours, or `memory.short_minutes`.
    Short,
    /// 7 days, or `memory.mid_minutes`.
    Mid,
    /// For good.
    #[default]
    Long,
}

impl Tier {
    /// All tiers, from short to long.
    pub const ALL: [Self; 3] = [Self::Short, Self::Mid, Self::Long];

    /// Returns the word used in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Mid => "mid",
            Self::Long => "long",
        }
    }

    /// Returns the tier that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == word)
    }
}

/// One memory. Times are RFC 3339, UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// `mem_` and a ULID.
    pub id: String,
    /// What is to be remembered.
    pub content: String,
    /// A heading of its own.
    pub title: Option<String>,
    /// Where it belongs.
    pub container: String,
    /// In order of the alphabet.
    pub tags: Vec<String>,
    /// What of the code it is about.
    pub anchors: Vec<Anchor>,
    /// Whether that is still so, in the worktree that was asked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How long it stays.
    pub tier: Tier,
    /// When it is archived by itself.
    pub expires_at: Option<String>,
    /// 1 to 10.
    pub priority: u8,
    /// 0 to 1.
    pub confidence: f64,
    /// Through what it came: `cli` or `api`.
    pub source: String,
    /// Who wrote it, as git's settings name them.
    pub author: String,
    /// When it was added.
    pub created: String,
    /// When anything of it last changed.
    pub updated: String,
    /// When it was last recalled.
    pub last_access: Option<String>,
    /// How often it was recalled.
    pub access_count: u64,
    /// Whatever the writer attached.
    pub metadata: Map<String, Value>,
    /// When it left the living.
    pub archived_at: Option<String>,
    /// `forgotten`, `expired`, `consolidated`, or `replaced` by an import.
    pub archived_why: Option<String>,
    /// What it was imported from: `import:/docs/a.md`, `repo-map:/map.json`.
    pub key: Option<String>,
    /// Oldest first; for `memory.get` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<Link>>,
}

/// Who asks, from where; a part of the params of every method.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Caller {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `cli` for the command line; anything else is kept as `api`.
    pub client: String,
    /// Name of this very request, for those that write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Params of `memory.get` and `memory.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdsParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Ids, or the beginnings of ids that begin no other.
    pub ids: Vec<String>,
}

/// Result of `memory.get`, `memory.list` and `memory.restore`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoriesResult {
    /// In the order asked for.
    pub memories: Vec<Memory>,
    /// How many there are, shown or not.
    pub total: u64,
    /// Whether all states are those of now; absent where no memory is about the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<bool>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// What a memory must be like to be meant: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traits {
    /// Of this tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// With this in the author's name or address, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Of this priority, or a higher one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_priority: Option<i64>,
    /// With these values in its metadata.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Which memories: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// These; empty for any.
    pub ids: Vec<String>,
    /// In this container.
    pub container: Option<String>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// What they are like.
    #[serde(flatten)]
    pub traits: Traits,
    /// Added (in the archive: archived) before this date or so long ago.
    pub before: Option<String>,
    /// With all these words in title, tags or content.
    #[serde(rename = "match")]
    pub words: Option<String>,
}

/// In which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// Newest first.
    #[default]
    Created,
    /// Last changed first.
    Updated,
    /// Highest first, then newest.
    Priority,
}

/// Params of `memory.list`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ListParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which.
    #[serde(flatten)]
    pub selection: Selection,
    /// The archive instead of the living.
    pub archived: bool,
    /// Only those that are about something in this state.
    pub state: Option<State>,
    /// The order.
    pub sort: Sort,
    /// At most so many, 1 to 1,000; 20 when absent.
    pub limit: Option<u64>,
    /// Leave out the first so many.
    pub offset: u64,
}

/// A memory in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// Its id.
    pub id: String,
    /// Where it belongs.
    pub container: String,
    /// When it was added.
    pub created: String,
    /// Title, else the beginning of the first line.
    pub line: String,
}
