//! Deletes memories for good.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use crate::access::row_access::row_handle;
use crate::memory_tables::archive_rows::ArchiveRows;
use crate::memory_tables::history_rows::HistoryRows;
use crate::memory_tables::link_rows::LinkRows;
use crate::records::memory_event::{MemoryEvent, restored_at};
use crate::records::memory_record::{FileSide, MemoryRecord};
use crate::records::record_columns::{COLUMNS, read_record};
use crate::settings::answer_rows::AnswerRows;
use crate::shared::own_rows::PrivateMemoryRows;

row_handle! {
    /// Memories that are deleted for good.
    pub struct DeletionRows {
        answers: AnswerRows,
        archive: ArchiveRows,
        history: HistoryRows,
        links: LinkRows,
        own_memories: PrivateMemoryRows,
    }
}

impl DeletionRows<'_> {
    /// Deletes memories with all their data; the histories of linked memories record the end of the links. File versions with the
    /// id of a deleted private memory become a memory of their own. Also deletes the stored answers, which quote memories.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_memories(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.delete_keeping_files(records, event)?;
        self.answers().forget_answers()
    }

    /// Deletes memories as [`Self::delete_memories`] does, and their file versions. Only file versions in conflict with a private
    /// memory stay, because they belong to others.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_with_files(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let (conflicting, others): (Vec<MemoryRecord>, Vec<MemoryRecord>) = records
            .iter()
            .cloned()
            .partition(|record| record.side == FileSide::Ours && !record.is_shared_or_team());
        self.delete_rows(&others, event)?;
        self.delete_keeping_files(&conflicting, event)?;
        self.answers().forget_answers()
    }

    /// Deletes memories with all their data, but makes the file versions of a private memory a memory of their own.
    fn delete_keeping_files(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let heirs = self.own_memories().detach_files(records)?;
        self.delete_rows(records, event)?;
        for (id, heir) in heirs {
            self.own_memories().inherit_id(&id, heir)?;
        }
        Ok(())
    }

    /// Deletes the rows, version rows and words of memories, and records it in the histories of linked memories.
    fn delete_rows(&self, records: &[MemoryRecord], event: &MemoryEvent) -> Result<(), DatabaseError> {
        self.links().record_removed_links(records, event)?;
        self.access.record_deletions(records, &event.action);
        let restored = |record: &MemoryRecord| {
            Ok::<_, DatabaseError>(restored_at(&self.history().list_history(&record.id)?))
        };
        let restored: Vec<i64> = records.iter().map(restored).collect::<Result<_, _>>()?;
        self.access.run(|conn| {
            let mut words = conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid = (SELECT row FROM memory WHERE id = ?1)",
            )?;
            let mut memory = conn.prepare_cached("DELETE FROM memory WHERE id = ?1")?;
            let mut versions = conn.prepare_cached(
                "DELETE FROM memory_fts WHERE rowid IN (
                     SELECT row FROM memory WHERE main = (SELECT row FROM memory WHERE id = ?1))",
            )?;
            for record in records {
                words.execute([&record.id])?;
                versions.execute([&record.id])?;
                memory.execute([&record.id])?;
            }
            // The full-text index still has the words until its segments are merged.
            conn.execute("INSERT INTO memory_fts(memory_fts) VALUES('optimize')", [])?;
            Ok(())
        })?;
        // An earlier restore may have brought back a version that is older than the versions in other databases.
        let mut later = records.iter().zip(restored).filter(|(record, at)| *at > record.updated);
        later.try_for_each(|(record, at)| self.record_deletion(&record.id, at, at))
    }

    /// Deletes memories that expired at `at_ms` or earlier, and the stored answers that mention them. Archives memories whose
    /// expiry was last set by an agent or an import, because neither may delete for good.
    pub(crate) fn purge_expired(&self, at_ms: i64) -> Result<(), DatabaseError> {
        let expired: Vec<MemoryRecord> = self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.archived_at IS NULL AND m.expires_at <= ?1
                     AND coalesce((SELECT h.source FROM history h WHERE h.memory = m.row AND h.action != 'recall'
                         AND json_type(h.fields, '$.expires_at') IS NOT NULL ORDER BY h.row DESC LIMIT 1), '')
                     NOT IN ('agent', 'import')"
            ))?
            .query_map([at_ms], read_record)?
            .collect()
        })?;
        if !expired.is_empty() {
            self.delete_keeping_files(&expired, &MemoryEvent::new_by_daemon(self.access.now_ms(), "expire"))?;
            let ids = Value::from(expired.into_iter().map(|record| record.id).collect::<Vec<_>>());
            self.access.run(|conn| {
                conn.execute(
                    "DELETE FROM request WHERE EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(answer, value))",
                    [ids.to_string()],
                )
                .map(drop)
            })?;
        }
        self.archive().archive_expired(at_ms)
    }

    /// Returns the time of the last change of a deleted memory, and the time of its deletion, unix ms.
    pub(crate) fn find_deletion(&self, id: &str) -> Result<Option<(i64, i64)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT updated, at FROM deleted WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// Records the deletion of a memory: `updated` is the time of its last change, `at` the time of the deletion, unix ms.
    pub(crate) fn record_deletion(&self, id: &str, updated: i64, at: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            // For a memory that was deleted twice, the later times count.
            conn.prepare_cached(
                "INSERT INTO deleted VALUES(?1, ?2, ?3) ON CONFLICT(id) DO UPDATE
                 SET updated = max(updated, excluded.updated), at = max(at, excluded.at)",
            )?
            .execute(params![id, updated, at])
            .map(drop)
        })
    }
}
