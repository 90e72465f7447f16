//! Shares the vectors of all chunks between searches and the writer.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::nearest::{IdSet, Nearest, VectorIndex};
use super::stored_vectors::StoredVectors;
use crate::store::{Reader, StoreError};
use crate::types::ChunkId;

/// Where searches find the vectors.
#[derive(Default)]
enum State {
    /// Nowhere yet.
    #[default]
    Unknown,
    InMemory(VectorIndex),
    /// In the table of sqlite-vec, once it has all of them.
    InTable,
}

/// All vectors once they are loaded, unless they exceed the memory budget.
///
/// Invariant: the lock is held only inside these functions, never across a read of the database.
#[derive(Default)]
pub struct SharedVectors(RwLock<State>);

/// The result of [`SharedVectors::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adding {
    /// The copy in memory has them, and this number in all, those of deleted chunks included.
    InMemory(usize),
    /// No copy in memory is kept.
    InTable,
    /// None are loaded yet.
    NotLoaded,
}

impl SharedVectors {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds vectors to the copy in memory, if there is one.
    pub fn add(&self, added: &[(ChunkId, Vec<i8>)]) -> Adding {
        match &mut *self.write() {
            State::Unknown => Adding::NotLoaded,
            State::InTable => Adding::InTable,
            State::InMemory(vectors) => {
                added.iter().for_each(|(id, vector)| vectors.add(*id, vector));
                Adding::InMemory(vectors.len())
            }
        }
    }

    /// Removes the vectors of other chunks from the copy in memory; returns whether there is one.
    pub fn retain(&self, kept: &IdSet) -> bool {
        let mut state = self.write();
        let State::InMemory(vectors) = &mut *state else { return false };
        vectors.retain(|id| kept.contains(id));
        true
    }

    /// Replaces the copy in memory.
    pub fn replace(&self, vectors: VectorIndex) {
        *self.write() = State::InMemory(vectors);
    }

    /// Removes the copy in memory: vectors are found in the table only.
    pub fn use_table(&self) {
        *self.write() = State::InTable;
    }

    /// Removes the copy in memory, which may be wrong: none are loaded until [`Self::replace`] is called.
    pub fn forget(&self) {
        *self.write() = State::Unknown;
    }

    /// Returns whether a copy is in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(*self.read(), State::InMemory(_))
    }

    /// Like [`Nearest::top`]; nothing if the vectors are neither in memory nor all in the table of the snapshot.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn top(
        &self,
        reader: &Reader,
        query: &[i8],
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Option<Vec<(ChunkId, f64)>>, StoreError> {
        if let State::InMemory(vectors) = &*self.read() {
            return Nearest::top(vectors, query, k, among).map(Some);
        }
        // Even if nothing is loaded: the snapshot may be older than the last change of place.
        if reader.has_vector_table()? {
            StoredVectors(reader).top(query, k, among).map(Some)
        } else {
            Ok(None)
        }
    }
}
