//! Reads the anchors of memories.

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_proto::anchor::Anchor;
use memod_proto::memory::MemorySort;
use rusqlite::{Connection, params, params_from_iter};

use super::search_arms::rows_to_json;
use super::{AnchoredMemory, MemoryFilter, MemoryRows};

impl MemoryRows<'_> {
    /// Returns the anchors of the selected memories that have any, by id, in a total order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_anchored(
        &self,
        filter: &MemoryFilter,
        sort: MemorySort,
    ) -> Result<Vec<AnchoredMemory>, DatabaseError> {
        let (sql_condition, values) = filter.sql_condition(self.now_ms);
        let order_clause = super::memory_rows::order_clause(sort);
        let sql = format!(
            "SELECT substr(m.id, 1, instr(m.id || '#', '#') - 1), json_group_array(json(a.anchor) ORDER BY a.ord) FROM memory m JOIN anchor a ON a.memory = m.row
             WHERE {sql_condition} GROUP BY m.row ORDER BY {order_clause}"
        );
        self.run(|conn| {
            conn.prepare(&sql)?
                .query_map(params_from_iter(values), |row| {
                    Ok((row.get(0)?, parse_anchors(&row.get::<_, String>(1)?)))
                })?
                .collect()
        })
    }

    /// Returns the anchors of those memories among `ids` that have any, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn anchors_of(&self, rows: &[MemoryRow]) -> Result<Vec<AnchoredMemory>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT substr(m.id, 1, instr(m.id || '#', '#') - 1), json_group_array(json(a.anchor) ORDER BY a.ord)
                 FROM json_each(?1) wanted
                 CROSS JOIN anchor a ON a.memory = wanted.value
                 CROSS JOIN memory m ON m.row = a.memory GROUP BY m.row",
            )?
            .query_map([rows_to_json(rows)], |row| Ok((row.get(0)?, parse_anchors(&row.get::<_, String>(1)?))))?
            .collect()
        })
    }
}

/// Reads the column of [`super::memory_rows::COLUMNS`].
pub(super) fn parse_anchors(json: &str) -> Vec<Anchor> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Replaces the anchors of a memory. Their present states are not stored.
pub(super) fn put_anchors(conn: &Connection, row: i64, anchors: &[Anchor]) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM anchor WHERE memory = ?1")?.execute([row])?;
    let mut put = conn.prepare_cached("INSERT INTO anchor(memory, ord, anchor) VALUES(?1, ?2, ?3)")?;
    for (ord, anchor) in anchors.iter().enumerate() {
        let stored = Anchor { state: None, now: None, note: None, ..anchor.clone() };
        let json = serde_json::to_string(&stored).expect("strings and numbers are JSON");
        put.execute(params![row, ord as i64, json])?;
    }
    Ok(())
}
