//! Stores memories in memory.db.
//!
//! One thread uses one connection. A committed transaction is on disk: `synchronous=FULL` syncs the write-ahead log at each
//! commit.

mod anchor_rows;
mod backups;
mod database_contents;
mod elapsed_time;
mod export_import;
mod file_columns;
mod followed_rows;
mod import_source;
mod integrity_check;
mod lineage;
mod link_rows;
mod memory_counts;
mod memory_filter;
mod memory_rows;
mod memory_store;
mod memory_vectors;
mod memory_words;
mod merge_contents;
mod noted_changes;
mod open_database;
mod outbox;
mod restore_history;
mod saved_sharing;
mod schema;
mod search_arms;
mod shared_files;
mod sharing;
mod team_rows;
mod touched_rows;
mod worktree_scope;
mod write_rows;

use std::path::Path;

use memod_database::{DatabaseError, migrations};
use memod_proto::anchor::Anchor;
use memod_proto::memory::Tier;
use serde_json::{Map, Value};

pub use self::followed_rows::FollowedRow;
pub use self::import_source::{CopyError, ImportSource, remove_left_copies};
pub use self::integrity_check::IntegrityReport;
pub use self::link_rows::{LinkOutcome, MemoryLink};
pub use self::memory_counts::MemoryCounts;
pub use self::memory_filter::MemoryFilter;
pub use self::memory_rows::MemoryRows;
pub use self::memory_store::{JobError, MemoryStore, ModelPreparation, RestoreError, remove_unfinished};
pub use self::memory_vectors::{EMBED_STEP, MemoryReader, VectorChanges, VectorModel};
pub use self::open_database::MemoryDb;
pub use self::outbox::OutgoingChange;
pub use self::search_arms::RankingFacts;
pub use self::shared_files::{
    FROM_FILE, FileMemory, FileRow, FileState, FileVersion, PendingFile, ShownMemories, UnreadableFile,
    WorktreeRow,
};
pub use self::team_rows::{FROM_TEAM, TeamCounts, TeamRow, TeamTrouble};
pub use self::worktree_scope::repository_from;
pub use self::write_rows::EarlierRequest;

/// Checks whether memory.db can be opened, as [`migrations::check_schema`] does.
///
/// # Errors
/// When its schema is newer than ours, or it cannot be read.
pub fn check_memory(path: &Path) -> Result<(), DatabaseError> {
    migrations::check_schema(path, schema::MEMORY)
}

/// The id of a memory with its anchors.
pub type AnchoredMemory = (String, Vec<Anchor>);

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
    /// Whether a file in the worktree is the truth.
    pub shared: bool,
    /// Whether the team has it.
    pub team: bool,
    /// The other repository of the team from which it was copied.
    pub repository: Option<String>,
    /// Whether this version came from a file or the team, and this user has neither written nor confirmed it.
    pub is_unconfirmed: bool,
    pub side: FileSide,
}

/// The side of its file that a memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileSide {
    /// The whole file, or the memory has no file.
    #[default]
    Whole,
    /// Our side of a conflict of git.
    Ours,
    /// The other side.
    Theirs,
    /// A file that is not shown, because it equals a memory that is this user's alone.
    Same,
}

impl FileSide {
    /// All sides, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Whole, Self::Ours, Self::Theirs, Self::Same];

    fn from_number(number: Option<i64>) -> Self {
        let at = number.and_then(|number| usize::try_from(number).ok());
        at.and_then(|at| Self::ALL.get(at).copied()).unwrap_or_default()
    }
}

impl MemoryRecord {
    /// Returns whether others have it too, through a file or the team. It does not expire then, and recalls do not change it.
    pub fn is_shared(&self) -> bool {
        self.shared || self.team
    }

    /// Returns whether it is neither archived nor expired.
    pub fn is_living(&self, now_ms: i64) -> bool {
        self.archived_at.is_none() && self.expires_at.is_none_or(|at| at > now_ms)
    }
}

/// Renders the file of a memory, in conflict with the other side if there is one; returns its text and hash.
pub(crate) type RenderFileText = fn(&FileMemory, Option<&FileMemory>) -> Option<(String, [u8; 32])>;

/// The functions with which the store computes data from records.
#[derive(Clone, Copy)]
pub struct RecordFunctions {
    /// Computes the derived data of a record.
    pub derive: fn(&MemoryRecord) -> DerivedData,
    /// Returns the fields that differ, as in a history: `{field: [before, after]}`.
    pub differences: fn(&MemoryRecord, &MemoryRecord) -> Map<String, Value>,
    /// Makes an id from a time, unix ms, and random bytes.
    pub new_id: fn(i64, [u8; 10]) -> String,
    /// Renders a file; returns its text and hash, or `None` if others may not have it.
    pub file_text: RenderFileText,
}

/// Data that is computed from a record and stored with it.
#[derive(Clone, Debug)]
pub struct DerivedData {
    /// blake3 of the normalised content.
    pub hash: [u8; 32],
    /// Words of title, tags and content.
    pub words: [String; 3],
}

/// One row of `history`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Change`")]
pub struct MemoryEvent {
    pub at: i64,
    pub action: String,
    pub author: String,
    pub source: String,
    pub fields: Map<String, Value>,
}

impl MemoryEvent {
    /// Returns an event that the daemon itself causes.
    fn of_daemon(at: i64, action: &str) -> Self {
        let [action, author, source] = [action, "memod", "system"].map(str::to_owned);
        Self { at, action, author, source, fields: Map::new() }
    }

    /// Returns an event that a file causes, with the daemon as its author.
    fn of_file(at: i64, action: &str) -> Self {
        Self { source: FROM_FILE.to_owned(), ..Self::of_daemon(at, action) }
    }
}
