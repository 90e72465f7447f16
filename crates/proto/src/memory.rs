//! Params and results of the methods about memories.
//!
//! Every method takes a `cwd`, and methods that write take a `request`: a name that the caller chooses for the
//! request. If the request is repeated, because the daemon died before it answered, it gets the same answer and
//! changes nothing. Reusing a name for another method or other params is an error. A `notice` in a result informs the
//! user that memories were restored, and from which source.

mod add_update;
mod consolidate;
mod exchanged;
mod forget_purge;
mod history;
mod memory_links;
mod recall_promote;
mod share;
mod similar;
mod tally;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::add_update::{AddParams, AddResult, ConfirmParams, FieldParams, UpdateParams, UpdateResult};
pub use self::consolidate::{AutoConsolidateParams, ConsolidateParams, ConsolidateResult, ConsolidatedGroup};
pub use self::exchanged::{
    CheckFilesParams, CheckFilesResult, FileFate, RestoreFileParams, RestoreFileResult,
};
pub use self::forget_purge::{RemoveParams, RemoveResult};
pub use self::history::{Change, HistoryResult};
pub use self::memory_links::{
    Edge, Link, LinkKind, LinkParams, LinkResult, LinksParams, LinksResult, Node, ResolveParams,
    ResolveResult,
};
pub use self::recall_promote::{PromoteParams, RecallParams, RecallResult, Recalled};
pub use self::share::{
    ResolveFileParams, ResolveFileResult, ShareParams, ShareResult, SharedFile, SideName, build_reader_marks,
    is_unconfirmed_trust,
};
pub use self::similar::{
    Contradicted, DedupeParams, DedupeResult, DifferingPair, Group, MergeParams, MergeResult, Related,
    RelatedParams, RelatedResult,
};
pub use self::tally::{BackupInfo, StatsResult, Tally, TallyParams, TallyResult};
use super::anchor::{Anchor, AnchorState};
use super::caveats::Caveats;

/// The lifetime of a memory without an explicit expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// 6 hours, or `memory.short_minutes`.
    Short,
    /// 7 days, or `memory.mid_minutes`.
    Mid,
    /// Forever.
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

/// The people with whom a memory is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// Nobody.
    #[default]
    Mine,
    /// Everybody who works on the repository; a file in the worktree is authoritative.
    Repo,
    /// The team, through its server.
    Team,
}

/// One memory. Times are RFC 3339, UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Id: `mem_` and a ULID.
    pub id: String,
    /// Text.
    pub content: String,
    /// Title.
    pub title: Option<String>,
    /// Container.
    pub container: String,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Code that the memory is about.
    pub anchors: Vec<Anchor>,
    /// State of that code in the caller's worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<AnchorState>,
    /// Lifetime.
    pub tier: Tier,
    /// Time of expiry.
    pub expires_at: Option<String>,
    /// Priority, 1 to 10.
    pub priority: u8,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Origin of the memory: `cli`, `api`, `agent`, `hook`, `user`, `import`, `consolidation`, or the word that an
    /// import gave.
    pub source: String,
    /// Author, from git's settings.
    pub author: String,
    /// Name of the agent that added the memory, as given by the agent.
    pub agent: Option<String>,
    /// Creation time.
    pub created: String,
    /// Time of the last change.
    pub updated: String,
    /// Time of the last recall.
    pub last_access: Option<String>,
    /// Number of recalls.
    pub access_count: u64,
    /// Data that the author attached.
    pub metadata: Map<String, Value>,
    /// Time of archiving.
    pub archived_at: Option<String>,
    /// Reason for archiving: `forgotten`, `expired`, `consolidated`, `replaced` by an import, `file` (no worktree has
    /// its file any more), or `unreadable` (its file is no longer a memory).
    pub archived_why: Option<String>,
    /// Source of an import, such as `import:/docs/a.md` or `repo-map:/map.json`.
    pub key: Option<String>,
    /// Whether a file in the worktree is authoritative.
    pub shared: bool,
    /// Scope in which the memory is shared.
    pub scope: MemoryScope,
    /// Another repository of the team, if the memory belongs there; it can be changed only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// `own`, `import`, or, for a memory that this user has neither written nor confirmed, `repo` if it came with a
    /// file and `team` if it came from the team.
    pub trust: String,
    /// `ours` or `theirs`, if the memory is a side of a conflict in its file or with the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// Ids of the living memories that supersede it; only for `memory.recall`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
    /// Vector of the memory; only for `memory.export` with `include_vectors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<StoredVector>,
    /// Links, oldest first; only for `memory.get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<Link>>,
}

/// A vector of title and content. Vectors of different models are never compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredVector {
    /// Identity of the model.
    pub model: String,
    /// Hash of the title and content from which the vector was computed.
    pub text_hash: String,
    /// Values of the vector, times 127 and rounded.
    pub int8: Vec<i8>,
}

/// The caller; a part of the params of every method.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Caller {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// `cli` for the command line, `mcp` for the server of agents; stored as `cli` and `agent`, any other value as
    /// `api`.
    pub client: String,
    /// Name of the calling agent. It is stored with the memories that the agent adds, and their source is `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// Name of this request, for methods that write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

impl Caller {
    /// Returns whether the caller is an agent.
    pub fn is_agent(&self) -> bool {
        self.client == "mcp" || self.agent_name.is_some()
    }
}

/// Params of `memory.get` and `memory.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdsParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Ids, or unique prefixes of ids.
    pub ids: Vec<String>,
}

/// Result of `memory.get`, `memory.list` and `memory.restore`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoriesResult {
    /// Memories, in the requested order.
    pub memories: Vec<Memory>,
    /// Total number of memories, shown or not.
    pub total: u64,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Conditions on the fields of memories, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Traits {
    /// Tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Part of the author's name or address, ignoring case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Part of the name of the agent that added the memory, ignoring case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Origin of the memory, such as `cli` or `import`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Minimum priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_priority: Option<i64>,
    /// Scope in which the memory is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
    /// Keys and values that the metadata must have.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Conditions on memories, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Ids; empty for any.
    pub ids: Vec<String>,
    /// Container.
    pub container: Option<String>,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// Conditions on fields.
    #[serde(flatten)]
    pub traits: Traits,
    /// Only memories added (in the archive: archived) since this date, time or age, such as `3d` for three days ago.
    pub since: Option<String>,
    /// Only memories added (in the archive: archived) before this date, time or age; `before` is an alias.
    #[serde(alias = "before")]
    pub until: Option<String>,
    /// Words that must all occur in title, tags or content.
    #[serde(rename = "match")]
    pub words: Option<String>,
}

/// Sort order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemorySort {
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
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Conditions.
    #[serde(flatten)]
    pub selection: Selection,
    /// Whether to list archived instead of living memories.
    pub archived: bool,
    /// Only memories with anchors in one of these states; empty for any.
    pub state: Vec<AnchorState>,
    /// Only memories about one of these: `PATH` (a directory includes everything below it), `PATH:FIRST-LAST`,
    /// `PATH#SYMBOL`, with the path relative to `cwd`, or the name of a definition; empty for any.
    pub about: Vec<String>,
    /// Sort order.
    pub sort: MemorySort,
    /// Maximum number, 1 to 1,000; 20 when absent.
    pub limit: Option<u64>,
    /// Number of memories to skip.
    pub offset: u64,
}

/// A memory in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brief {
    /// Id of the memory.
    pub id: String,
    /// Container.
    pub container: String,
    /// Creation time.
    pub created: String,
    /// Title, or the beginning of the first line, preceded by `[trust: repo]`, `[team]` and `[conflict: ours]` where
    /// they apply.
    pub line: String,
}
