//! Stores memories in memory.db.
//!
//! One thread uses one connection. A committed transaction is on disk: `synchronous=FULL` syncs the write-ahead log at each
//! commit.

mod anchors;
mod backups;
mod check;
mod contents;
mod counts;
mod db;
mod export_import;
mod file_cells;
mod files;
mod followed_rows;
mod foreign;
mod found;
mod lineage;
mod link_rows;
mod memory_filter;
mod memory_store;
mod noted_changes;
mod outbox;
mod passed_time;
mod restored;
mod rows;
mod saved_sharing;
mod schema;
mod shared_with;
mod team_rows;
mod touched_rows;
mod unite;
mod vectors;
mod words;
mod worktree_scope;
mod write;

use std::path::Path;

use memod_database::{DatabaseError, migrations};
use memod_proto::anchor::Anchor;
use memod_proto::memory::Tier;
use serde_json::{Map, Value};

pub use self::check::Checked;
pub use self::counts::Numbers;
pub use self::db::MemoryDb;
pub use self::files::{
    FROM_FILE, FileRow, FileState, FileVersion, PendingFile, SaidByFile, ShownBy, UnreadableFile, WorktreeRow,
};
pub use self::followed_rows::Followed;
pub use self::foreign::{Foreign, ForeignError, remove_left_copies};
pub use self::found::Facts;
pub use self::link_rows::{Link, Linked};
pub use self::memory_filter::MemoryFilter;
pub use self::memory_store::{MemoryStore, Preparing, RestoreError, Stopped, remove_unfinished};
pub use self::outbox::Outgoing;
pub use self::rows::Rows;
pub use self::team_rows::{FROM_TEAM, TeamCounts, TeamRow, TeamTrouble};
pub use self::vectors::{EMBED_STEP, MemoryReader, VectorChanges, VectorModel};
pub use self::worktree_scope::repository_from;
pub use self::write::Earlier;

/// Checks whether memory.db can be opened, as [`migrations::check_schema`] does.
///
/// # Errors
/// When its schema is newer than ours, or it cannot be read.
pub fn check_memory(path: &Path) -> Result<(), DatabaseError> {
    migrations::check_schema(path, schema::MEMORY)
}

/// The id of a memory with its anchors.
pub type Anchored = (String, Vec<Anchor>);

/// A stored memory; times are unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Memory`")]
pub struct Record {
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
    /// Another repository of the team, of which it is a copy.
    pub repository: Option<String>,
    /// Whether it came with a file or from the team, and this user has neither written nor confirmed this version.
    pub is_unconfirmed: bool,
    pub side: Side,
}

/// The part of its file that a memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// All of it, or it has none.
    #[default]
    Whole,
    /// Our side of a conflict of git.
    Ours,
    /// The other side.
    Theirs,
    /// What a file says, which is not shown: a memory that is this user's alone says the same.
    Same,
}

impl Side {
    /// All sides, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Whole, Self::Ours, Self::Theirs, Self::Same];

    fn of(number: Option<i64>) -> Self {
        let at = number.and_then(|number| usize::try_from(number).ok());
        at.and_then(|at| Self::ALL.get(at).copied()).unwrap_or_default()
    }
}

impl Record {
    /// Returns whether others have it too, in whichever way. It does not end then, and recalls do not change what it says.
    pub fn is_shared(&self) -> bool {
        self.shared || self.team
    }

    /// Returns whether it is neither archived nor expired.
    pub fn lives(&self, now_ms: i64) -> bool {
        self.archived_at.is_none() && self.expires_at.is_none_or(|at| at > now_ms)
    }
}

/// Returns the text of a file that says this, in conflict with the other side if there is one, and its hash.
pub(crate) type FileText = fn(&SaidByFile, Option<&SaidByFile>) -> Option<(String, [u8; 32])>;

/// What the store has computed of records.
#[derive(Clone, Copy)]
pub struct Forms {
    /// Computes the derived data of a record.
    pub derive: fn(&Record) -> Derived,
    /// Returns the fields that differ, as in a history: `{field: [before, after]}`.
    pub differences: fn(&Record, &Record) -> Map<String, Value>,
    /// Makes an id of a time, unix ms, and random bytes.
    pub new_id: fn(i64, [u8; 10]) -> String,
    /// Returns the text of a file that says this, and its hash; `None` if others may not have it.
    pub file_text: FileText,
}

/// Data that is computed from a record and stored with it.
#[derive(Clone, Debug)]
pub struct Derived {
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
    /// Returns an event that the daemon causes by itself.
    fn of_daemon(at: i64, action: &str) -> Self {
        let [action, author, source] = [action, "memod", "system"].map(str::to_owned);
        Self { at, action, author, source, fields: Map::new() }
    }
}
