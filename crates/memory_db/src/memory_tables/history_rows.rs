//! Reads and writes the history of memories.
//!
//! Each change of a memory adds a row to `history`, whatever causes the change. Only the deletion of a memory deletes its history;
//! [`RowAccess`](crate::access::row_access::RowAccess) records which memories a transaction deletes.

use std::collections::BTreeMap;

use memod_base::types::MemoryChange;
use memod_database::DatabaseError;
use rusqlite::Connection;
use serde_json::json;

use crate::access::row_access::row_handle;
use crate::memory_tables::note_event::record_event;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::memory_event::{FILE_SOURCE, MemoryEvent};
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::parse_object;

row_handle! {
    /// Changes of memories.
    pub struct HistoryRows { versions: VersionRows }
}

impl HistoryRows<'_> {
    /// Returns the changes of a memory, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_history(&self, id: &str) -> Result<Vec<MemoryEvent>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT h.at, h.action, h.author, h.source, h.fields FROM history h
                 JOIN memory m ON m.row = h.memory WHERE m.id = ?1 ORDER BY h.row",
            )?
            .query_map([id], |row| {
                let (at, action, author, source) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(MemoryEvent {
                    at,
                    action,
                    author,
                    source,
                    fields: parse_object(&row.get::<_, String>(4)?),
                })
            })?
            .collect()
        })
    }

    /// Replaces the history of a memory, after a merge with another database.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn replace_history(&self, id: &str, events: &[MemoryEvent]) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            let row: i64 = conn.query_row("SELECT row FROM memory WHERE id = ?1", [id], |row| row.get(0))?;
            conn.execute("DELETE FROM history WHERE memory = ?1", [row])?;
            events.iter().try_for_each(|event| record_event(conn, row, event))
        })
    }

    /// Adds a change to the history of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_change(&self, id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let row = self.versions().find_row_number(id)?;
        self.access.run(|conn| record_event(conn, row, event))
    }

    /// Returns the number of the last change of any memory, for [`Self::list_changed_since`].
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_change_number(&self) -> Result<i64, DatabaseError> {
        self.access
            .run(|conn| conn.query_row("SELECT coalesce(max(row), 0) FROM history", [], |row| row.get(0)))
    }

    /// Returns the ids of memories that were changed after the change with the number `last`, other than by recalls.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_changed_since(&self, last: i64) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id FROM history h JOIN memory m ON m.row = h.memory
                 WHERE h.row > ?1 AND h.action != 'recall' ORDER BY m.row",
            )?
            .query_map([last], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the memories that a transaction has changed, by action: those that it has deleted, and those of the rows `added` of
    /// `history`, each with its last action.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn list_transaction_changes(&self, added: &[i64]) -> Result<Vec<MemoryChange>, DatabaseError> {
        let mut changes = self.access.deleted_changes();
        changes.retain(|change| !change.ids.is_empty());
        if added.is_empty() {
            return Ok(changes);
        }
        let found: Vec<(String, String)> = self.access.run(|conn: &Connection| {
            conn.prepare_cached(
                "WITH last(row) AS (SELECT max(h.row) FROM json_each(?1) w
                     CROSS JOIN history h ON h.row = w.value GROUP BY h.memory)
                 SELECT h.action, m.id FROM last JOIN history h USING(row) JOIN memory m ON m.row = h.memory
                 ORDER BY h.row",
            )?
            .query_map([json!(added).to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (action, id) in found {
            let place = *places.entry(action.clone()).or_insert_with(|| {
                changes.push(MemoryChange { action, ids: Vec::new() });
                changes.len() - 1
            });
            changes[place].ids.push(id);
        }
        Ok(changes)
    }

    /// Returns whether a memory was changed here after another database deleted it. `updated` is the time of the last change there,
    /// `at` the time of the deletion, unix ms.
    pub(crate) fn has_changed_since(
        &self,
        known: &MemoryRecord,
        updated: i64,
        at: i64,
    ) -> Result<bool, DatabaseError> {
        let is_gone = known.shared && known.archived_why.as_deref() == Some("file");
        let history = self.list_history(&known.id)?;
        Ok(known.updated > updated && !is_gone || last_change_ms(&history) > at)
    }
}

/// Returns the time when a memory was last changed, unix ms, other than by a missing file, a recall, or a merge of databases; 0 if
/// never.
pub(crate) fn last_change_ms(history: &[MemoryEvent]) -> i64 {
    history.iter().filter(|change| is_real_change(change)).map(|change| change.at).max().unwrap_or_default()
}

/// Returns whether an event is a change other than by a missing file, a recall, or a merge of databases.
fn is_real_change(change: &MemoryEvent) -> bool {
    let is_missing_file = change.source == FILE_SOURCE && change.action == "forget";
    !is_missing_file && !["recall", "unite"].contains(&change.action.as_str())
}
