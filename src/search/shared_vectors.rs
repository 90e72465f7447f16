//! Shares the vectors of all chunks between searches and the writer.

use std::sync::{PoisonError, RwLock};

use super::nearest::VectorIndex;
use crate::types::ChunkId;

/// All vectors once they are loaded.
///
/// Invariant: the lock is held only inside these functions, never across a read of the database.
#[derive(Default)]
pub struct SharedVectors(RwLock<Option<VectorIndex>>);

impl SharedVectors {
    /// Adds vectors; returns false if none are loaded yet.
    pub fn add(&self, added: &[(ChunkId, Vec<i8>)]) -> bool {
        let mut vectors = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(vectors) = vectors.as_mut() else { return false };
        added.iter().for_each(|(id, vector)| vectors.add(*id, vector));
        true
    }

    /// Replaces all vectors.
    pub fn replace(&self, vectors: VectorIndex) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(vectors);
    }

    /// Removes all vectors: they are not loaded until [`Self::replace`] is called.
    pub fn forget(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Like [`VectorIndex::top`]; nothing if no vectors are loaded yet.
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
