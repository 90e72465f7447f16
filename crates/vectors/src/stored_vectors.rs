//! Finds the nearest vectors in the table of sqlite-vec, for indexes whose vectors exceed the memory budget.

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_index_db::Reader;

use crate::nearest::{Best, IdSet, Nearest};

/// The vectors of a snapshot that has the whole table ([`Reader::has_vector_table`]).
pub struct StoredVectors<'a>(pub &'a Reader);

impl Nearest for StoredVectors<'_> {
    fn top(
        &self,
        query: &[i8],
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Vec<(ChunkId, f64)>, DatabaseError> {
        let admits = |id| among.is_none_or(|among| among.contains(id));
        let mut best = Best::new(query, query.len(), k);
        self.0.each_vector_block(admits, |ids, rows| best.add(ids, rows, |_| true))?;
        Ok(best.into_sorted())
    }
}

#[cfg(test)]
mod tests;
