//! Reads memories in one snapshot.

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_proto::exchange::MOST_DRAFTS;
use memod_proto::memory::MemorySort;
use rusqlite::{OptionalExtension, params, params_from_iter};

use crate::access::row_access::row_handle;
use crate::access::worktree_scope::IS_IN_WORKTREE;
use crate::memory_tables::memory_filter::{IS_NO_COPY, MemoryFilter};
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::{COLUMNS, order_clause, read_record};

row_handle! {
    /// Memories, for reading.
    pub struct RecordRows {}
}

impl RecordRows<'_> {
    /// Returns the memory with an id, living or archived; `None` if there is none in the worktree. Of several rows for the id, a
    /// living one is preferred, then our side of a conflict.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_memory(&self, id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m
                 WHERE (m.id = ?1 OR m.main = (SELECT row FROM memory WHERE id = ?1)) AND {IS_IN_WORKTREE}
                 ORDER BY m.archived_at IS NOT NULL, 24 LIMIT 1"
            ))?
            .query_row([id], read_record)
            .optional()
        })
    }

    /// Returns at most `at_most` memories whose ids begin with `beginning`, in the order of their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_with_prefix(
        &self,
        beginning: &str,
        at_most: usize,
    ) -> Result<Vec<MemoryRecord>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                // '~' sorts after every character of an id.
                "SELECT {COLUMNS} FROM memory m WHERE m.id >= ?1 AND m.id < ?1 || '~' AND {IS_IN_WORKTREE} ORDER BY m.id, 24 LIMIT ?2"
            ))?
            .query_map(params![beginning, at_most as i64], read_record)?
            .collect()
        })
    }

    /// Returns another living memory in the container of this record, with the same text and the same import key. `hash` is the
    /// hash of the text.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_memory_with_text(
        &self,
        of: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM memory m WHERE m.container = ?1 AND m.hash = ?2 AND coalesce(m.key, '') = ?4
                 AND m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?3) AND {IS_IN_WORKTREE} AND {IS_NO_COPY}
                 AND coalesce(m.main, m.row) IS NOT (SELECT row FROM memory WHERE id = ?5)
                 ORDER BY m.row LIMIT 1"
            ))?
            .query_row(
                params![of.container, hash, self.access.now_ms(), of.key.as_deref().unwrap_or_default(), of.id],
                read_record,
            )
            .optional()
        })
    }

    /// Returns the id of a shared memory in the container of this record, with the same text and the same import key, that only
    /// other worktrees or branches have. `hash` is the hash of the text.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_same_text_elsewhere(
        &self,
        record: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT k.id FROM memory m JOIN memory k ON k.row = coalesce(m.main, m.row)
                 WHERE m.container = ?1 AND m.hash = ?2 AND m.shared = 1 AND coalesce(k.key, '') = ?3
                     AND (k.archived_at IS NULL OR k.archived_why = 'file')
                     AND (k.expires_at IS NULL OR k.expires_at > ?4)
                     AND NOT EXISTS (SELECT 1 FROM memory_file f JOIN memory v ON v.row = f.memory
                         WHERE coalesce(v.main, v.row) = k.row AND f.worktree = memod_worktree())
                 ORDER BY k.row LIMIT 1",
            )?
            .query_row(
                params![
                    record.container,
                    hash,
                    record.key.as_deref().unwrap_or_default(),
                    self.access.now_ms()
                ],
                |row| row.get(0),
            )
            .optional()
        })
    }

    /// Returns whether another living, private memory in the container of this record has the same text and the same import key.
    pub(crate) fn has_duplicate(
        &self,
        record: &MemoryRecord,
        hash: &[u8; 32],
    ) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory WHERE container = ?1 AND hash = ?2 AND coalesce(key, '') = ?3
                 AND archived_at IS NULL AND (expires_at IS NULL OR expires_at > ?5) AND id != ?4
                 AND shared NOT IN (1, 3, 4) AND main IS NULL",
            )?
            .exists(params![
                record.container,
                hash,
                record.key.as_deref().unwrap_or_default(),
                record.id,
                self.access.now_ms()
            ])
        })
    }

    /// Returns a page of the selected memories in the order of `sort`, and the number of all selected memories.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_page(
        &self,
        filter: &MemoryFilter,
        sort: MemorySort,
        offset: u64,
        at_most: Option<u64>,
    ) -> Result<(Vec<MemoryRecord>, u64), DatabaseError> {
        let (condition, values) = filter.sql_condition(self.access.now_ms());
        let order = order_clause(sort);
        let limit = at_most.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        self.access.run(|conn| {
            let count = format!("SELECT count(*) FROM memory m WHERE {condition}");
            let total = conn.prepare(&count)?.query_row(params_from_iter(&values), |row| row.get(0))?;
            let page = format!(
                "SELECT {COLUMNS} FROM memory m WHERE {condition} ORDER BY {order} LIMIT {limit} OFFSET {offset}"
            );
            let mut statement = conn.prepare(&page)?;
            let records = statement.query_map(params_from_iter(&values), read_record)?.collect::<Result<_, _>>()?;
            Ok((records, total))
        })
    }

    /// Returns the memories in these rows, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_records(&self, rows: &[MemoryRow]) -> Result<Vec<(MemoryRow, MemoryRecord)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS}, m.row FROM json_each(?1) w CROSS JOIN memory m ON m.row = w.value"
            ))?
            .query_map([rows_to_json(rows)], |row| Ok((MemoryRow(row.get("row")?), read_record(row)?)))?
            .collect()
        })
    }

    /// Returns the number of the row that the worktree has of a memory; `None` if the worktree does not have the memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_row(&self, id: &str) -> Result<Option<MemoryRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT m.row FROM memory m
                 WHERE (m.id = ?1 OR m.main = (SELECT row FROM memory WHERE id = ?1)) AND {IS_IN_WORKTREE} ORDER BY m.row LIMIT 1"
            ))?
                .query_row([id], |row| row.get(0).map(MemoryRow))
                .optional()
        })
    }

    /// Returns whether a memory with this id exists, living or archived.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_memory(&self, id: &str) -> Result<bool, DatabaseError> {
        self.access.run(|conn| conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1")?.exists([id]))
    }

    /// Returns the ids of all memories, living and archived.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_ids(&self) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT id FROM memory WHERE main IS NULL AND shared != 4")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the selected memories after the row number `after` in the order of their rows, each with its row number: up to about
    /// `most_bytes` of text, and at most as many memories as one import takes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_after_row(
        &self,
        filter: &MemoryFilter,
        after: i64,
        most_bytes: usize,
    ) -> Result<Vec<(i64, MemoryRecord)>, DatabaseError> {
        let (condition, mut values) = filter.sql_condition(self.access.now_ms());
        values.push(after.into());
        let select = format!(
            "SELECT {COLUMNS}, m.row FROM memory m WHERE {condition} AND m.row > ?{} ORDER BY m.row",
            values.len()
        );
        self.access.run(|conn| {
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

    /// Returns the import keys of unarchived memories that begin with `beginning`, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_keys(&self, beginning: &str) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT key FROM memory
                 WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 AND archived_at IS NULL ORDER BY key",
            )?
            .query_map([beginning], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the record in the row with an id: the main row of a memory, or a version row of any worktree.
    pub(crate) fn record_at(&self, row_id: &str) -> Result<MemoryRecord, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
                .query_row([row_id], read_record)
        })
    }

    /// Returns the record in the row with an id, like [`Self::record_at`]; `None` if there is no such row.
    pub(crate) fn find_record_at(&self, row_id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
                .query_row([row_id], read_record)
                .optional()
        })
    }
}

/// Returns row numbers as a JSON array, for `json_each`.
pub(crate) fn rows_to_json(rows: &[MemoryRow]) -> String {
    let rows: Vec<i64> = rows.iter().map(|row| row.0).collect();
    serde_json::json!(rows).to_string()
}
