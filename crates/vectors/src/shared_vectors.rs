//! Shares the vectors of all chunks between searches and the writer.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_index_db::IndexReader;

use crate::stored_vectors::StoredVectors;
use crate::vector_index::{IdSet, NearestVectors, VectorIndex};

/// The place where searches find the vectors.
#[derive(Default)]
enum VectorState {
    /// Not loaded.
    #[default]
    Unknown,
    /// Copies in memory. The first is of the current model; the second, if any, of the model that the daemon switches to.
    InMemory(Vec<VectorsOfModel>),
    /// In the table of sqlite-vec, once it has all of them.
    InTable,
}

/// A copy of the vectors of one model.
struct VectorsOfModel {
    model: String,
    vectors: VectorIndex,
}

/// Why no vectors can be compared with the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoVectors {
    /// The vectors are neither in memory nor all in the table of the snapshot.
    NotLoaded,
    /// The vectors are of another model than the query, because the daemon has just switched.
    OtherModel,
}

/// All vectors once they are loaded, unless they exceed the memory budget.
///
/// Invariant: the lock is held only inside these functions, never across a read of the database.
#[derive(Default)]
pub struct SharedVectors(RwLock<VectorState>);

/// The result of [`SharedVectors::add_vectors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedVectors {
    /// The copy in memory has them, and this number in all, including vectors of deleted chunks.
    InMemory(usize),
    /// There is no copy in memory.
    InTable,
    /// None are loaded yet.
    NotLoaded,
}

impl SharedVectors {
    fn lock_shared(&self) -> RwLockReadGuard<'_, VectorState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_exclusive(&self) -> RwLockWriteGuard<'_, VectorState> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds vectors to the copy in memory, if there is one.
    pub fn add_vectors(&self, added: &[(ChunkId, Vec<i8>)]) -> AddedVectors {
        match &mut *self.lock_exclusive() {
            VectorState::Unknown => AddedVectors::NotLoaded,
            VectorState::InTable => AddedVectors::InTable,
            VectorState::InMemory(copies) => {
                let Some(VectorsOfModel { vectors, .. }) = copies.first_mut() else {
                    return AddedVectors::NotLoaded;
                };
                added.iter().for_each(|(id, vector)| vectors.add_vector(*id, vector));
                AddedVectors::InMemory(vectors.len())
            }
        }
    }

    /// Removes the vectors of other chunks from the copy in memory; returns whether there is one of this model.
    pub fn retain_chunks(&self, model: &str, retained: &IdSet) -> bool {
        let mut state = self.lock_exclusive();
        let VectorState::InMemory(copies) = &mut *state else { return false };
        let Some(copy) = copies.first_mut().filter(|copy| copy.model == model) else { return false };
        copy.vectors.retain(|id| retained.contains(id));
        true
    }

    /// Replaces the copies in memory.
    pub fn replace_copies(&self, model: &str, vectors: VectorIndex) {
        *self.lock_exclusive() =
            VectorState::InMemory(vec![VectorsOfModel { model: model.to_owned(), vectors }]);
    }

    /// Adds a copy for the model that the database is about to switch to, if there is one for the current model: from then on [`Self::find_nearest`] answers for both.
    pub fn prepare_switch(&self, model: &str, vectors: VectorIndex) {
        if let VectorState::InMemory(copies) = &mut *self.lock_exclusive() {
            copies.truncate(1);
            copies.push(VectorsOfModel { model: model.to_owned(), vectors });
        }
    }

    /// Removes the copies of other models; returns whether there is one of this model.
    pub fn keep_only(&self, model: &str) -> bool {
        let mut state = self.lock_exclusive();
        let VectorState::InMemory(copies) = &mut *state else { return false };
        copies.retain(|copy| copy.model == model);
        let is_any = !copies.is_empty();
        if !is_any {
            *state = VectorState::Unknown;
        }
        is_any
    }

    /// Removes the copy in memory: vectors are found in the table only.
    pub fn use_table(&self) {
        *self.lock_exclusive() = VectorState::InTable;
    }

    /// Removes the copy in memory, which may be wrong: none are loaded until [`Self::replace_copies`] is called.
    pub fn forget_copies(&self) {
        *self.lock_exclusive() = VectorState::Unknown;
    }

    /// Returns whether a copy is in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(*self.lock_shared(), VectorState::InMemory(_))
    }

    /// Like [`NearestVectors::find_nearest`]. Vectors of two models are never compared.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_nearest(
        &self,
        reader: &IndexReader,
        query: &QueryVector,
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Result<Vec<(ChunkId, f64)>, NoVectors>, DatabaseError> {
        if let VectorState::InMemory(copies) = &*self.lock_shared() {
            let own = copies.iter().find_map(|copy| Some((&copy.vectors, query.for_model(&copy.model)?)));
            let Some((vectors, query)) = own else { return Ok(Err(NoVectors::OtherModel)) };
            return NearestVectors::find_nearest(vectors, query, k, among).map(Ok);
        }
        // Checked even if nothing is loaded: the snapshot may be older than the last change of state.
        if !reader.has_vector_table()? {
            return Ok(Err(NoVectors::NotLoaded));
        }
        match query.for_model(&reader.model_id()?) {
            Some(query) => StoredVectors(reader).find_nearest(query, k, among).map(Ok),
            None => Ok(Err(NoVectors::OtherModel)),
        }
    }
}
