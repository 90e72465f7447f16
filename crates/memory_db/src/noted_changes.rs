//! Collects the memories that committed transactions change, while changes are watched.
//!
//! Each change of a memory adds a row to `history`, whatever causes it, so those rows are complete. Only memories that are
//! deleted for good lose their history; [`MemoryRows`] notes these.

use std::collections::BTreeMap;

use memod_base::types::NotedChange;
use memod_database::DatabaseError;
use rusqlite::Connection;
use serde_json::json;

use super::MemoryRows;

impl MemoryRows<'_> {
    /// Returns the memories that a transaction has changed: those of new rows of `history`, each with its last action, and
    /// those that it has deleted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn noted_changes(&self, added: &[i64]) -> Result<Vec<NotedChange>, DatabaseError> {
        let mut changes = self.deleted_changes();
        changes.retain(|change| !change.ids.is_empty());
        if added.is_empty() {
            return Ok(changes);
        }
        let found: Vec<(String, String)> = self.run(|conn: &Connection| {
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
                changes.push(NotedChange { action, ids: Vec::new() });
                changes.len() - 1
            });
            changes[place].ids.push(id);
        }
        Ok(changes)
    }
}
