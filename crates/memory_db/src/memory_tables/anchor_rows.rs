//! Reads the anchors of memories.

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_proto::anchor::Anchor;
use memod_proto::memory::MemorySort;
use rusqlite::params_from_iter;

use crate::access::row_access::row_handle;
use crate::memory_tables::memory_filter::MemoryFilter;
use crate::memory_tables::record_rows::rows_to_json;
use crate::records::record_columns::{ID_OF_MEMORY, order_clause, parse_anchors};

row_handle! {
    /// Anchors of memories.
    pub struct AnchorRows {}
}

/// The id of a memory with its anchors.
pub type AnchoredMemory = (String, Vec<Anchor>);

impl AnchorRows<'_> {
    /// Returns the selected memories that have anchors, with their anchors, in the order of `sort`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_anchored(
        &self,
        filter: &MemoryFilter,
        sort: MemorySort,
    ) -> Result<Vec<AnchoredMemory>, DatabaseError> {
        let (sql_condition, values) = filter.sql_condition(self.access.now_ms());
        let order_clause = order_clause(sort);
        let sql = format!(
            "SELECT {ID_OF_MEMORY}, json_group_array(json(a.anchor) ORDER BY a.ord)
             FROM memory m JOIN anchor a ON a.memory = m.row
             WHERE {sql_condition} GROUP BY m.row ORDER BY {order_clause}"
        );
        self.access.run(|conn| {
            conn.prepare(&sql)?
                .query_map(params_from_iter(values), |row| {
                    Ok((row.get(0)?, parse_anchors(&row.get::<_, String>(1)?)))
                })?
                .collect()
        })
    }

    /// Calls `visit` with the row of each selected memory that is about a definition, and the qualified name of the definition.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_anchored_symbol(
        &self,
        filter: &MemoryFilter,
        mut visit: impl FnMut(MemoryRow, &str),
    ) -> Result<(), DatabaseError> {
        let (sql_condition, values) = filter.sql_condition(self.access.now_ms());
        let sql = format!(
            "SELECT m.row, json_extract(a.anchor, '$.symbol') AS symbol FROM memory m JOIN anchor a ON a.memory = m.row
             WHERE {sql_condition} AND symbol IS NOT NULL"
        );
        self.access.run(|conn| {
            let mut statement = conn.prepare(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                visit(MemoryRow(row.get(0)?), row.get_ref(1)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Returns the memories in `rows` that have anchors, with their anchors, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_anchors(&self, rows: &[MemoryRow]) -> Result<Vec<AnchoredMemory>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {ID_OF_MEMORY}, json_group_array(json(a.anchor) ORDER BY a.ord)
                 FROM json_each(?1) wanted
                 CROSS JOIN anchor a ON a.memory = wanted.value
                 CROSS JOIN memory m ON m.row = a.memory GROUP BY m.row"
            ))?
            .query_map([rows_to_json(rows)], |row| {
                Ok((row.get(0)?, parse_anchors(&row.get::<_, String>(1)?)))
            })?
            .collect()
        })
    }
}
