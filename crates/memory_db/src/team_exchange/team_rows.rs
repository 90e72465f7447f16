//! Stores which memories the team has, and whether they differ from this user's memories.

use memod_database::DatabaseError;
use rusqlite::params;

use crate::access::row_access::row_handle;
use crate::files::sharing_rows::SharingRows;
use crate::memory_tables::record_rows::RecordRows;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::memory_record::MemoryRecord;
use crate::records::sharing::Sharing;
use crate::settings::meta_rows::MetaRows;
use crate::team_exchange::followed_rows::FollowedRows;
use crate::team_exchange::outbox_rows::{OutboxRows, TEAM_CURSOR_KEY};
use crate::team_exchange::team_versions::TeamVersionTables;

row_handle! {
    /// Memories of the team.
    pub struct TeamRows {
        meta: MetaRows,
        records: RecordRows,
        versions: VersionRows,
        sharing: SharingRows,
        outbox: OutboxRows,
        followed: FollowedRows,
        team_versions: TeamVersionTables,
    }
}

/// A memory of the team with a conflict or another problem that a person must resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamTrouble {
    /// Id of the memory.
    pub id: String,
    /// Why the team's text is not used as the memory; `None` for a conflict of two changes.
    pub why: Option<String>,
    /// Whether the team's text is shown beside this user's memory.
    pub is_shown: bool,
}

impl TeamTrouble {
    /// Returns whether the team's text is not shown anywhere.
    pub fn is_hidden(&self) -> bool {
        self.why.is_some() && !self.is_shown
    }
}

/// The numbers of the team's memories, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TeamCounts {
    /// Number of living memories.
    pub memories: u64,
    /// Number of queued changes.
    pub unsent: u64,
    /// Number of memories in conflict, including texts that are shown beside a private memory with the same id.
    pub conflicts: u64,
    /// Number of texts that are not shown anywhere.
    pub unreadable: u64,
}

impl TeamRows<'_> {
    /// Returns this user's archived private memory that has the same id as a record of the team.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_archived_private(
        &self,
        record: &MemoryRecord,
    ) -> Result<Option<MemoryRecord>, DatabaseError> {
        let main = if record.team { self.versions().main_row(&record.id)? } else { None };
        main.filter(|main| main.is_private() && main.is_archived)
            .map(|_| self.records().record_at(&record.id))
            .transpose()
    }

    /// Marks a memory as shared with the team. [`OutboxRows::queue_change`] queues its text.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_team_memory(&self, id: &str) -> Result<(), DatabaseError> {
        self.sharing().set_sharing(id, Sharing::Team)
    }

    /// Makes a memory of the team private, and queues its archiving for the others.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn make_team_memory_private(&self, id: &str) -> Result<(), DatabaseError> {
        self.outbox().queue_withdrawal(id)?;
        self.sharing().set_sharing(id, Sharing::Never)
    }

    /// Makes all memories of the team private, and deletes queued changes, copies and the cursor. Archives a memory if another
    /// living memory has its text. Returns the number of memories.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn make_all_team_memories_private(&self) -> Result<u64, DatabaseError> {
        self.reset_exchange()?;
        self.access.run(|conn| {
            conn.execute_batch(
                "DELETE FROM memory_fts WHERE rowid IN (SELECT row FROM memory WHERE shared = 3 AND main IS NOT NULL);
                 DELETE FROM memory WHERE shared = 3 AND main IS NOT NULL;",
            )?;
            conn.execute(
                "UPDATE memory SET archived_at = ?1, archived_why = 'forgotten'
                 WHERE shared = 3 AND archived_at IS NULL AND EXISTS (
                     SELECT 1 FROM memory o WHERE o.container = memory.container AND o.hash = memory.hash
                         AND o.key IS NULL AND o.archived_at IS NULL AND o.main IS NULL
                         AND (o.shared IN (0, 2) OR o.shared = 3 AND o.row < memory.row))",
                [self.access.now_ms()],
            )?;
            let n = conn.execute("UPDATE memory SET shared = ?1 WHERE shared = 3", [Sharing::Never as i64])?;
            Ok(n as u64)
        })
    }

    /// Deletes queued changes, the cursor and the copies from other repositories, so that everything is pulled again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn reset_exchange(&self) -> Result<(), DatabaseError> {
        self.followed().unfollow_all()?;
        self.access.run(|conn| conn.execute_batch("DELETE FROM outbox; DELETE FROM team_memory;"))?;
        self.meta().unset_meta(TEAM_CURSOR_KEY)
    }

    /// Records that a memory now equals its team row.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_equal_to_team(&self, id: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "UPDATE team_memory SET updated = (SELECT updated FROM memory WHERE id = ?1) WHERE id = ?1",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Returns the ids of memories of the team that differ from their team rows, because restoring a backup has changed them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_unequal_to_team(&self) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id FROM team_memory t JOIN memory m ON m.id = t.id
                 WHERE m.shared = 3 AND m.updated IS NOT t.updated AND t.theirs IS NULL AND t.why IS NULL",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the ids of memories in conflict whose other side is not shown, because the memories were recovered from a damaged
    /// file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_hidden_sides(&self) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id FROM team_memory t WHERE t.theirs IS NOT NULL AND t.why IS NULL
                     AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the ids of memories that the team has or had, in order: at most `at_most` ids after the id `after`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_team_ids(&self, after: &str, at_most: usize) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT id FROM team_memory WHERE id > ?1 ORDER BY id LIMIT ?2")?
                .query_map(params![after, at_most as i64], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the memories of the team that are in conflict or whose text is not used, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_team_troubles(&self) -> Result<Vec<TeamTrouble>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT t.id, t.why, EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')
                 FROM team_memory t WHERE t.theirs IS NOT NULL OR t.why IS NOT NULL ORDER BY t.id",
            )?
            .query_map([], |row| {
                Ok(TeamTrouble { id: row.get(0)?, why: row.get(1)?, is_shown: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Counts the memories of the team by state.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_team_memories(&self) -> Result<TeamCounts, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT (SELECT count(*) FROM team_memory WHERE text != '' AND why IS NULL),
                     (SELECT count(*) FROM outbox),
                     (SELECT count(*) FROM team_memory t WHERE t.theirs IS NOT NULL OR t.why IS NOT NULL
                         AND EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team')),
                     (SELECT count(*) FROM team_memory t WHERE t.why IS NOT NULL
                         AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = t.id || '#team'))",
            )?
            .query_row([], |row| {
                Ok(TeamCounts {
                    memories: row.get(0)?,
                    unsent: row.get(1)?,
                    conflicts: row.get(2)?,
                    unreadable: row.get(3)?,
                })
            })
        })
    }

    /// Records that the team has this user's version of a memory, ends its conflict, and deletes its queued changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_sent(&self, id: &str) -> Result<(), DatabaseError> {
        self.team_versions().end_conflict(id)?;
        self.outbox().delete_outgoing(id)?;
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE team_memory SET base = NULL WHERE id = ?1")?.execute([id]).map(drop)
        })
    }
}
