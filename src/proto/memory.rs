//! What do the methods about memories take and return?
//!
//! Every method has `cwd`; those that write have a `request` too: a name of the caller's choice for this very request.
//! When it comes again (the daemon died before it could answer), it gets the same answer and changes nothing.
//! `notice` in a result is for a person: memories were restored, and from what.

mod consolidate;
mod links;
mod recall;
mod similar;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::consolidate::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, Consolidated};
pub use self::links::{
    Edge, Link, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams,
    ResolveResult,
};
pub use self::recall::{PromoteParams, RecallParams, RecallResult, Recalled};
pub use self::similar::{
    Contradicted, DedupeParams, DedupeResult, Group, MergeParams, MergeResult, Related, RelatedParams,
    RelatedResult,
};
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
        [Self::Short, Self::Mid, Self::Long].into_iter().find(|tier| tier.as_str() == word)
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

/// Params of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// At most 64 KiB; `<private>…</private>` is cut out before it is stored.
    pub content: String,
    /// At most 512 bytes.
    pub title: Option<String>,
    /// `project` when absent.
    pub container: Option<String>,
    /// At most 50 of 128 bytes.
    pub tags: Vec<String>,
    /// `long` when absent.
    pub tier: Option<Tier>,
    /// `3d`, `2h30m`, RFC 3339 or a date; else the tier says.
    pub ttl: Option<String>,
    /// 5 when absent.
    pub priority: Option<i64>,
    /// 1 when absent.
    pub confidence: Option<f64>,
    /// An object.
    pub metadata: Map<String, Value>,
    /// What of the code it is about: `PATH`, `PATH:10-20` or `PATH#SYMBOL`; the path relative to `cwd`, or absolute.
    pub about: Vec<String>,
    /// The same as another memod had it; what `about` names takes its place.
    pub anchors: Vec<Anchor>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
    /// Store it although another memory of the container says nearly the same.
    pub force: bool,
    /// Add to that other memory what is new, instead.
    pub merge: bool,
}

/// Result of `memory.add`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AddResult {
    /// False: the same text was there already, and nothing was changed, unless it was `merged`.
    pub created: bool,
    /// What is new in it was added to the memory that said nearly the same.
    pub merged: bool,
    /// What it may contradict.
    pub contradicted: Vec<Contradicted>,
    /// Parts that were cut out as private.
    pub redacted: usize,
    /// The memory as it is kept.
    pub memory: Memory,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
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

/// Params of `memory.update`: what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which one.
    pub id: String,
    /// Instead of the content.
    pub content: Option<String>,
    /// A paragraph behind the content.
    pub append: Option<String>,
    /// Empty takes it away.
    pub title: Option<String>,
    /// Where it belongs from now on.
    pub container: Option<String>,
    /// Counted from now.
    pub tier: Option<Tier>,
    /// As for `memory.add`, counted from now; `never` takes it away.
    pub ttl: Option<String>,
    /// 1 to 10.
    pub priority: Option<i64>,
    /// 0 to 1.
    pub confidence: Option<f64>,
    /// Laid over the metadata key by key; null takes a key away.
    pub metadata: Map<String, Value>,
    /// Take `metadata` instead of what was there.
    pub replace_metadata: bool,
    /// Tags that it gets.
    pub add_tags: Vec<String>,
    /// Tags that it loses.
    pub remove_tags: Vec<String>,
    /// What of the code it is about from now on, too; as for `memory.add`.
    pub add_about: Vec<String>,
    /// What it is no longer about.
    pub remove_about: Vec<String>,
    /// The same as another memod had it; what `add_about` names takes its place.
    pub anchors: Vec<Anchor>,
    /// Store it although it looks like a credential.
    pub allow_secret: bool,
}

/// Params of `memory.confirm`: what the memory says still holds of what it is about, as that is now.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfirmParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which one.
    pub id: String,
    /// Found by the daemon.
    pub anchors: Vec<Anchor>,
}

/// Result of `memory.update` and `memory.confirm`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateResult {
    /// Names of the fields that are others now.
    pub changed: Vec<String>,
    /// Parts that were cut out as private.
    pub redacted: usize,
    /// The memory as it is kept.
    pub memory: Memory,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.forget` (the living go into the archive) and `memory.purge` (the archive goes for good).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
    /// Which; `memory.forget` wants at least one condition.
    #[serde(flatten)]
    pub selection: Selection,
    /// Show what would go, and change nothing.
    pub dry_run: bool,
    /// The `digest` of a dry run: exactly what it showed goes, or nothing.
    pub expect: Option<String>,
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

/// Result of `memory.forget` and `memory.purge`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoveResult {
    /// Whether it was only looked at.
    pub dry_run: bool,
    /// What went, or would go; newest first.
    pub memories: Vec<Brief>,
    /// Stands for exactly these memories.
    pub digest: String,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Params of `memory.tags`, `memory.containers` and `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyParams {
    /// Who asks.
    #[serde(flatten)]
    pub caller: Caller,
}

/// A name and how many living memories have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Tag or container.
    pub name: String,
    /// Living memories.
    pub memories: u64,
}

/// Result of `memory.tags` and `memory.containers`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TallyResult {
    /// Most memories first, then by name.
    pub names: Vec<Tally>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// One change of a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// When.
    pub at: String,
    /// `add`, `update`, `forget`, `expire`, `restore`, `salvage`, `link`, `unlink`, `resolve`, `recall`,
    /// `promote` or `consolidate`.
    pub action: String,
    /// Who.
    pub author: String,
    /// Through what.
    pub source: String,
    /// By field: `[before, after]`.
    pub fields: Map<String, Value>,
}

/// Result of `memory.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryResult {
    /// The memory's whole id.
    pub id: String,
    /// Oldest first.
    pub changes: Vec<Change>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A copy of memory.db.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupInfo {
    /// Where it is.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// Result of `memory.stats`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StatsResult {
    /// Living memories.
    pub living: u64,
    /// Forgotten and expired ones.
    pub archived: u64,
    /// Living memories by tier.
    pub tiers: Vec<Tally>,
    /// Living memories by container.
    pub containers: Vec<Tally>,
    /// Living memories that end within 24 hours.
    pub expiring: u64,
    /// When the next one ends.
    pub next_end: Option<String>,
    /// Links between living memories.
    pub links: u64,
    /// Links of which an end is in the archive.
    pub links_archived: u64,
    /// Bytes of all contents, archived ones too.
    pub content_bytes: u64,
    /// When the first of the living was added.
    pub oldest: Option<String>,
    /// When the last was.
    pub newest: Option<String>,
    /// The database.
    pub path: String,
    /// Its size, with what has not been moved into it yet.
    pub bytes: u64,
    /// Newest first.
    pub backups: Vec<BackupInfo>,
    /// For a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}
