//! Lends the vectors of all chunks to searches while the writer adds to them.

use std::sync::{PoisonError, RwLock};

use super::nearest::VectorIndex;
use crate::types::ChunkId;

/// All vectors, once they are loaded.
///
/// Invariant: the lock is held inside these functions only, never across a read of the database.
#[derive(Default)]
pub struct SharedVectors(RwLock<Option<VectorIndex>>);

impl SharedVectors {
    /// Adds vectors; returns whether there are any to add to.
    pub fn add(&self, added: &[(ChunkId, Vec<i8>)]) -> bool {
        let mut vectors = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(vectors) = vectors.as_mut() else { return false };
        added.iter().for_each(|(id, vector)| vectors.add(*id, vector));
        true
    }

    /// Puts others in their place.
    pub fn replace(&self, vectors: VectorIndex) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(vectors);
    }

    /// As [`VectorIndex::top`]; none where they are not loaded yet.
    pub(super) fn top(
        &self,
        query: &[i8],
        k: usize,
        admits: impl Fn(ChunkId) -> bool,
    ) -> Option<Vec<(ChunkId, f64)>> {
        let vectors = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(vectors.as_ref()?.top(query, k, admits))
    }
}
