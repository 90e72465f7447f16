//! Finds the nearest vectors in the table of sqlite-vec, for indexes whose vectors exceed the memory budget.

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_index_db::IndexReader;

use crate::vector_index::{IdSet, NearestRows, NearestVectors};

/// The vectors in the table of a snapshot. The table must be complete ([`IndexReader::is_vector_table_complete`]).
pub struct StoredVectors<'a>(pub &'a IndexReader);

impl NearestVectors for StoredVectors<'_> {
    fn find_nearest(
        &self,
        query: &[i8],
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Vec<(ChunkId, f64)>, DatabaseError> {
        let mut best = NearestRows::new(query, query.len(), k);
        self.0.each_vector_block(
            |id| among.is_none_or(|among| among.contains(id)),
            |ids, rows| best.add_rows(ids, rows, |_| true),
        )?;
        Ok(best.into_sorted())
    }
}

#[cfg(test)]
mod tests;
