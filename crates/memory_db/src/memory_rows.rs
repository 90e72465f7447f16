//! Gives access to all rows of one snapshot, with one method for each subject, and stores memories.

use memod_database::DatabaseError;
use rusqlite::params;

use crate::access::row_access::RowAccess;
use crate::files::file_link_rows::FileLinkRows;
use crate::files::file_rows::FileRows;
use crate::files::sharing_rows::SharingRows;
use crate::files::worktree_notices::WorktreeNotices;
use crate::files::worktree_rows::WorktreeRows;
use crate::files::written_files::WrittenFiles;
use crate::memory_tables::anchor_rows::AnchorRows;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::history_rows::HistoryRows;
use crate::memory_tables::link_rows::LinkRows;
use crate::memory_tables::note_event::record_event;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::tally_rows::TallyRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::{COLUMNS, read_record};
use crate::records::record_functions::HashAndWords;
use crate::search_arms::search_rows::SearchRows;
use crate::search_arms::vector_rows::VectorRows;
use crate::search_arms::word_rows::WordRows;
use crate::settings::answer_rows::AnswerRows;
use crate::settings::lineage_rows::LineageRows;
use crate::settings::meta_rows::MetaRows;
use crate::settings::wall_clock_rows::WallClockRows;
use crate::shared::conflict_rows::ConflictRows;
use crate::shared::deletion_rows::DeletionRows;
use crate::shared::file_updates::FileUpdates;
use crate::shared::own_rows::PrivateMemoryRows;
use crate::shared::own_settlement::VersionVisibility;
use crate::shared::shared_rows::SharedRows;
use crate::team_exchange::followed_rows::FollowedRows;
use crate::team_exchange::outbox_rows::OutboxRows;
use crate::team_exchange::team_rows::TeamRows;
use crate::team_exchange::team_versions::TeamVersionTables;

/// The rows of one snapshot.
pub struct MemoryRows<'a> {
    pub(crate) access: RowAccess<'a>,
}

impl<'a> MemoryRows<'a> {
    pub(crate) fn new(access: RowAccess<'a>) -> Self {
        Self { access }
    }
}

/// The types of the subjects.
impl MemoryRows<'_> {
    /// Returns access to the values that the database stores about itself.
    pub(crate) fn meta(&self) -> MetaRows<'_> {
        MetaRows::new(&self.access)
    }

    /// Returns access to the stored state of the wall clock.
    pub(crate) fn wall_clock(&self) -> WallClockRows<'_> {
        WallClockRows::new(&self.access)
    }

    /// Returns access to the lineage of the database.
    pub(crate) fn lineage(&self) -> LineageRows<'_> {
        LineageRows::new(&self.access)
    }

    /// Returns access to the stored answers to named requests.
    pub fn answers(&self) -> AnswerRows<'_> {
        AnswerRows::new(&self.access)
    }

    /// Returns access to memories, for reading.
    pub fn records(&self) -> RecordRows<'_> {
        RecordRows::new(&self.access)
    }

    /// Returns access to the archive.
    pub fn archive(&self) -> ArchiveRows<'_> {
        ArchiveRows::new(&self.access)
    }

    /// Returns access to the main rows of memories, and to their version rows.
    pub fn versions(&self) -> VersionRows<'_> {
        VersionRows::new(&self.access)
    }

    /// Returns access to the history of memories.
    pub fn history(&self) -> HistoryRows<'_> {
        HistoryRows::new(&self.access)
    }

    /// Returns access to the links between memories.
    pub fn links(&self) -> LinkRows<'_> {
        LinkRows::new(&self.access)
    }

    /// Returns access to the anchors of memories.
    pub fn anchors(&self) -> AnchorRows<'_> {
        AnchorRows::new(&self.access)
    }

    /// Returns access to counts of memories.
    pub fn tallies(&self) -> TallyRows<'_> {
        TallyRows::new(&self.access)
    }

    /// Returns access to the vocabulary of the full-text index.
    pub fn words(&self) -> WordRows<'_> {
        WordRows::new(&self.access)
    }

    /// Returns access to the queries of a search.
    pub fn search(&self) -> SearchRows<'_> {
        SearchRows::new(&self.access)
    }

    /// Returns access to the vectors of memories.
    pub fn vectors(&self) -> VectorRows<'_> {
        VectorRows::new(&self.access)
    }

    /// Returns access to the known worktrees.
    pub fn worktrees(&self) -> WorktreeRows<'_> {
        WorktreeRows::new(&self.access)
    }

    /// Returns access to the notice about removed worktrees.
    pub fn worktree_notices(&self) -> WorktreeNotices<'_> {
        WorktreeNotices::new(&self.access)
    }

    /// Returns access to the rows about memory files in worktrees.
    pub fn files(&self) -> FileRows<'_> {
        FileRows::new(&self.access)
    }

    /// Returns access to the records of memory files that verbs write.
    pub fn written_files(&self) -> WrittenFiles<'_> {
        WrittenFiles::new(&self.access)
    }

    /// Returns access to the sharing of memories, and to the versions that this user trusts.
    pub fn sharing(&self) -> SharingRows<'_> {
        SharingRows::new(&self.access)
    }

    /// Returns access to the changes that are queued for the team.
    pub fn outbox(&self) -> OutboxRows<'_> {
        OutboxRows::new(&self.access)
    }

    /// Returns access to the copies of memories of other repositories.
    pub fn followed(&self) -> FollowedRows<'_> {
        FollowedRows::new(&self.access)
    }

    /// Returns access to the team's versions of memories.
    pub fn team_versions(&self) -> TeamVersionTables<'_> {
        TeamVersionTables::new(&self.access)
    }

    /// Returns access to the memories of the team.
    pub fn team(&self) -> TeamRows<'_> {
        TeamRows::new(&self.access)
    }

    /// Returns access to private memories whose ids files or the team have, too.
    pub fn private_memories(&self) -> PrivateMemoryRows<'_> {
        PrivateMemoryRows::new(&self.access)
    }

    /// Returns access to the other sides of conflicts.
    pub fn conflicts(&self) -> ConflictRows<'_> {
        ConflictRows::new(&self.access)
    }

    /// Returns access to the deletion of memories.
    pub fn deletions(&self) -> DeletionRows<'_> {
        DeletionRows::new(&self.access)
    }

    /// Returns access to the memories that are shared through files.
    pub fn shared(&self) -> SharedRows<'_> {
        SharedRows::new(&self.access)
    }

    /// Returns the type that decides which versions of private memories are shown.
    pub fn version_visibility(&self) -> VersionVisibility<'_> {
        VersionVisibility::new(&self.access)
    }

    /// Returns the type that applies changes of the worktree's files.
    pub fn file_updates(&self) -> FileUpdates<'_> {
        FileUpdates::new(&self.access)
    }

    /// Returns access to the links that memory files have.
    pub fn file_links(&self) -> FileLinkRows<'_> {
        FileLinkRows::new(&self.access)
    }
}

/// The snapshot.
impl MemoryRows<'_> {
    /// Returns the time of the snapshot, unix ms.
    pub fn now_ms(&self) -> i64 {
        self.access.now_ms()
    }

    /// Selects the worktree whose memories are read from now on, by its number; 0 for the whole repository.
    pub fn select_worktree(&self, worktree: i64) {
        self.access.select_worktree(worktree);
    }

    /// Returns the number of the worktree that is read; 0 for the whole repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn current_worktree(&self) -> Result<i64, DatabaseError> {
        self.access.current_worktree()
    }

    /// Returns whether this transaction has deleted memories for good.
    pub fn has_deleted(&self) -> bool {
        self.access.has_deleted()
    }

    /// Returns ten random bytes.
    ///
    /// # Errors
    /// When the database fails.
    pub fn random_bytes(&self) -> Result<[u8; 10], DatabaseError> {
        self.access.random_bytes()
    }
}

/// Memories.
impl MemoryRows<'_> {
    /// Stores a new or changed memory, and the change in its history.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_memory(
        &self,
        record: &MemoryRecord,
        derived: &HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        if self.sharing().is_team_memory(&record.id)? {
            // A memory of the team has neither an expiry nor an import key.
            let record =
                MemoryRecord { team: true, shared: false, expires_at: None, key: None, ..record.clone() };
            return self.versions().store_record_at(&record.id, &record, derived, Some(event));
        }
        let own = self.versions().worktree_version_id(&record.id)?;
        if own.is_none() && !self.sharing().is_shared_by_file(&record.id)? {
            return self.versions().store_record_at(&record.id, record, derived, Some(event));
        }
        // A memory in a file has neither an expiry nor an import key.
        let record = MemoryRecord { shared: true, expires_at: None, key: None, ..record.clone() };
        if own.is_none() {
            self.versions().copy_for_other_worktrees(&record.id)?;
        }
        self.versions().store_record_at(own.as_deref().unwrap_or(&record.id), &record, derived, Some(event))
    }

    /// Stores the recalls of a memory, and no other field.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_recall(&self, record: &MemoryRecord, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            let row = conn
                .prepare_cached(
                    "UPDATE memory SET last_access = ?2, access_count = ?3 WHERE id = ?1 RETURNING row",
                )?
                .query_row(params![record.id, record.last_access, record.access_count], |row| row.get(0))?;
            record_event(conn, row, event)
        })
    }

    /// Stores the retention of a memory: tier, expiry, priority and recalls.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_retention(&self, record: &MemoryRecord, event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            let row = conn
                .prepare_cached(
                    "UPDATE memory SET tier = ?2, expires_at = ?3, priority = ?4, last_access = ?5, access_count = ?6,
                         updated = ?7 WHERE id = ?1 RETURNING row",
                )?
                .query_row(
                    params![
                        record.id,
                        record.tier.as_str(),
                        record.expires_at,
                        record.priority,
                        record.last_access,
                        record.access_count,
                        record.updated
                    ],
                    |row| row.get(0),
                )?;
            record_event(conn, row, event)
        })
    }

    /// Archives living memories. A shared memory that other worktrees have, too, is only removed from this worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn archive_memories(
        &self,
        records: &[MemoryRecord],
        why: &str,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for record in records {
            match record.shared {
                true => self.shared().remove_from_worktree(record, why, event)?,
                false => self.archive().archive_or_restore(std::slice::from_ref(record), Some(why), event)?,
            }
        }
        Ok(())
    }

    /// Records that the import with the number `run` contains a memory, so that [`Self::archive_missing`] does not archive it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_import_run(&self, id: &str, run: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE memory SET run = ?2 WHERE id = ?1")?
                .execute(params![id, run])
                .map(drop)
        })
    }

    /// Archives the living memories under an import key that the import `run` does not contain, and returns their number. Only
    /// containers that the import wrote to are affected, or all containers if it contains no memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn archive_missing(&self, key: &str, run: i64, event: &MemoryEvent) -> Result<u64, DatabaseError> {
        let missing: Vec<MemoryRecord> = self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m
                 WHERE m.key = ?1 AND m.run IS NOT ?2 AND m.archived_at IS NULL
                     AND (m.container IN (SELECT container FROM memory WHERE key = ?1 AND run = ?2)
                          OR NOT EXISTS (SELECT 1 FROM memory WHERE key = ?1 AND run = ?2))"
            ))?
            .query_map(params![key, run], read_record)?
            .collect()
        })?;
        self.archive_memories(&missing, "replaced", event)?;
        Ok(missing.len() as u64)
    }
}
