//! Archives and restores rows of memories.

use memod_database::DatabaseError;
use rusqlite::{ToSql, params};

use crate::access::row_access::row_handle;
use crate::memory_tables::note_event::record_event;
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::MemoryRecord;

row_handle! {
    /// The archive: which rows are archived, and why.
    pub struct ArchiveRows {}
}

impl ArchiveRows<'_> {
    /// Archives memories for the reason `why`, or restores them if `why` is `None`, and records `event` in their histories.
    pub(crate) fn archive_or_restore(
        &self,
        records: &[MemoryRecord],
        why: Option<&str>,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            let mut set = conn.prepare_cached(
                "UPDATE memory SET archived_at = iif(?2 IS NULL, NULL, coalesce(archived_at, ?3)), archived_why = ?2,
                     updated = max(?3, updated + 1), expires_at = iif(?2 IS NULL AND expires_at <= ?3, NULL, expires_at)
                 WHERE id = ?1 RETURNING row",
            )?;
            for record in records {
                let row = set.query_row(params![record.id, why, event.at], |row| row.get(0))?;
                record_event(conn, row, event)?;
            }
            Ok(())
        })
    }

    /// Archives the memories that expired at `at_ms` or earlier.
    pub(crate) fn archive_expired(&self, at_ms: i64) -> Result<(), DatabaseError> {
        self.archive_where("expires_at <= ?1", &[&at_ms])
    }

    /// Archives memories that have expired by the clock and have the same text as a living memory, because only one unarchived
    /// memory may have a text.
    pub(crate) fn archive_expired_duplicates(
        &self,
        record: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<(), DatabaseError> {
        let same =
            "expires_at <= ?1 AND container = ?2 AND hash = ?3 AND coalesce(key, '') = ?4 AND id != ?5";
        let key = record.key.as_deref().unwrap_or_default();
        self.archive_where(same, &[&self.access.now_ms(), &record.container, hash, &key, &record.id])
    }

    /// Archives the unarchived, expired memories that meet a condition.
    fn archive_where(&self, condition: &str, values: &[&dyn ToSql]) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "INSERT INTO history(memory, at, action, author, source, fields)
                 SELECT row, expires_at, 'expire', 'memod', 'system', '{{}}' FROM memory
                 WHERE archived_at IS NULL AND {condition}"
            ))?
            .execute(values)?;
            conn.prepare_cached(&format!(
                "UPDATE memory SET archived_at = expires_at, archived_why = 'expired',
                     updated = max(expires_at, updated + 1) WHERE archived_at IS NULL AND {condition}"
            ))?
            .execute(values)
            .map(drop)
        })
    }

    /// Restores memories from the archive, and removes an expiry that has passed.
    ///
    /// # Errors
    /// When the database cannot be written, also where a living memory has the same text.
    pub fn restore_memories(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for record in records {
            let hash = self.access.run(|conn| {
                conn.query_row("SELECT hash FROM memory WHERE id = ?1", [&record.id], |row| row.get(0))
            })?;
            self.archive_expired_duplicates(record, &hash)?;
        }
        self.archive_or_restore(records, None, event)
    }
}
