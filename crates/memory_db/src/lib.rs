//! Stores memories in memory.db.
//!
//! One thread uses one connection. A committed transaction is on disk: `synchronous=FULL` syncs the write-ahead log at each
//! commit.
//!
//! [`MemoryRows`] gives access to the rows of one snapshot, with one type for each subject, such as [`LinkRows`]. The type of a
//! subject uses only the types that its declaration lists.

mod access;
mod database;
mod files;
mod import_source;
mod memory_rows;
mod memory_store;
mod memory_tables;
mod merging;
mod records;
mod search_arms;
mod settings;
mod shared;
mod team_exchange;

use std::path::Path;

use memod_database::{DatabaseError, migrations};

pub use self::access::worktree_scope::whole_repository_scope;
pub use self::database::integrity_check::IntegrityReport;
pub use self::database::open_database::MemoryDb;
pub use self::database::vector_changes::{MemoryReader, VectorChanges};
pub use self::files::file_link_rows::FileLinkRows;
pub use self::files::file_rows::{FileRow, FileRows, UnreadableFile};
pub use self::files::sharing_rows::SharingRows;
pub use self::files::worktree_notices::WorktreeNotices;
pub use self::files::worktree_rows::{KnownWorktree, WorktreeRows};
pub use self::files::written_files::{PendingFile, WrittenFiles};
pub use self::import_source::{CopyError, ImportSource, remove_leftover_copies};
pub use self::memory_rows::MemoryRows;
pub use self::memory_store::{
    JobError, MemoryStore, ModelPreparation, RestoreError, remove_unfinished_backup,
};
pub use self::memory_tables::anchor_rows::{AnchorRows, AnchoredMemory};
pub use self::memory_tables::archive_rows::ArchiveRows;
pub use self::memory_tables::history_rows::HistoryRows;
pub use self::memory_tables::link_rows::{LinkOutcome, LinkRows, MemoryLink};
pub use self::memory_tables::memory_filter::MemoryFilter;
pub use self::memory_tables::record_rows::RecordRows;
pub use self::memory_tables::tally_rows::{MemoryCounts, TallyRows};
pub use self::memory_tables::version_rows::VersionRows;
pub use self::records::file_version::{FileMemory, FileVersion, MemoriesInFile, MemoryFileSnapshot};
pub use self::records::memory_event::{FILE_SOURCE, MemoryEvent, TEAM_SOURCE};
pub use self::records::memory_record::{FileSide, MemoryRecord};
pub use self::records::record_functions::{HashAndWords, RecordFunctions};
pub use self::search_arms::search_rows::{RankingFacts, SearchRows};
pub use self::search_arms::vector_rows::{FAST_MODEL_BATCH, VectorModel, VectorRows};
pub use self::search_arms::word_rows::WordRows;
pub use self::settings::answer_rows::{AnswerRows, EarlierRequest};
pub use self::shared::conflict_rows::ConflictRows;
pub use self::shared::deletion_rows::DeletionRows;
pub use self::shared::file_updates::FileUpdates;
pub use self::shared::own_rows::PrivateMemoryRows;
pub use self::shared::own_settlement::VersionVisibility;
pub use self::shared::shared_rows::SharedRows;
pub use self::team_exchange::followed_rows::{FollowedRow, FollowedRows};
pub use self::team_exchange::outbox_rows::{OutboxRows, OutgoingChange};
pub use self::team_exchange::team_rows::{TeamCounts, TeamRows, TeamTrouble};
pub use self::team_exchange::team_versions::{TeamRow, TeamVersionTables};

/// Checks that this program can open the memory.db at `path`. An absent or damaged file passes, because the daemon restores it.
///
/// # Errors
/// When the schema is newer than the newest that this program knows, or the file cannot be read.
pub fn check_memory_schema(path: &Path) -> Result<(), DatabaseError> {
    migrations::refuse_newer_schema(path, database::schema::MEMORY_SCHEMA)
}
