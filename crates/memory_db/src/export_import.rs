//! Reads memories for exports, and the origins of imports.

use memod_database::DatabaseError;
use memod_proto::exchange::MOST_DRAFTS;
use rusqlite::{params, params_from_iter};

use super::memory_rows::{COLUMNS, read_record};
use super::{MemoryEvent, MemoryFilter, MemoryRecord, MemoryRows};

impl MemoryRows<'_> {
    /// Returns memories after row `after` in order of insertion, about `most_bytes` of them and at most as many as one import
    /// takes, each with its row.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_after(
        &self,
        filter: &MemoryFilter,
        after: i64,
        most_bytes: usize,
    ) -> Result<Vec<(i64, MemoryRecord)>, DatabaseError> {
        let (condition, mut values) = filter.sql_condition(self.now_ms);
        values.push(after.into());
        let select = format!(
            "SELECT {COLUMNS}, m.row FROM memory m WHERE {condition} AND m.row > ?{} ORDER BY m.row",
            values.len()
        );
        self.run(|conn| {
            let mut statement = conn.prepare_cached(&select)?;
            let mut rows = statement.query(params_from_iter(values))?;
            let (mut found, mut n_bytes) = (Vec::new(), 0);
            while n_bytes < most_bytes
                && found.len() < MOST_DRAFTS
                && let Some(row) = rows.next()?
            {
                let record = read_record(row)?;
                n_bytes += 500 + record.content.len();
                found.push((row.get("row")?, record));
            }
            Ok(found)
        })
    }

    /// Records that this import has a memory, so that [`Self::archive_missing`] keeps it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_import_run(&self, id: &str, run: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET run = ?2 WHERE id = ?1")?
                .execute(params![id, run])
                .map(drop)
        })
    }

    /// Archives living memories under a key that this import does not have, in the containers that it wrote to, or in all
    /// containers if the source is empty now; returns their number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn archive_missing(&self, key: &str, run: i64, event: &MemoryEvent) -> Result<u64, DatabaseError> {
        let missing: Vec<MemoryRecord> = self.run(|conn| {
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

    /// Returns the ids of all memories, living and archived.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_ids(&self) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT id FROM memory WHERE main IS NULL AND shared != 4")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the keys of living memories with this prefix, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_keys(&self, beginning: &str) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT key FROM memory
                 WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 AND archived_at IS NULL ORDER BY key",
            )?
            .query_map([beginning], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns whether a memory with this id exists, living or archived.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_memory(&self, id: &str) -> Result<bool, DatabaseError> {
        self.run(|conn| conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1")?.exists([id]))
    }
}
