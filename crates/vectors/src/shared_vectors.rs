//! Holds the vectors of all chunks for searches and for the writer.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_index_db::IndexReader;

use crate::stored_vectors::StoredVectors;
use crate::vector_index::{IdSet, NearestVectors, VectorIndex};

/// Where searches read the vectors.
#[derive(Default)]
enum VectorState {
    /// Nowhere: the vectors have not been loaded.
    #[default]
    NotLoaded,
    /// In copies in memory. The first copy belongs to the current model; the second, if any, to the model that the daemon switches
    /// to.
    InMemory(Vec<VectorsOfModel>),
    /// In the table of sqlite-vec. A search must check whether the table of its snapshot is complete.
    InTable,
}

/// A copy in memory of the vectors of one model.
struct VectorsOfModel {
    model: String,
    vectors: VectorIndex,
}

/// Why no vectors can be compared with a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorsUnavailable {
    /// The vectors are not in memory, and the table of the snapshot is not complete.
    NotLoaded,
    /// The vectors belong to another model than the query, because the daemon has just switched models.
    OtherModel,
}

/// The vectors of all chunks: a copy in memory, or a note that they must be read from the database, because they are not loaded or
/// exceed the memory budget.
///
/// Invariant: the lock is not held while the database is read.
#[derive(Default)]
pub struct SharedVectors(RwLock<VectorState>);

/// The result of [`SharedVectors::add_vectors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedVectors {
    /// The vectors were added to the copy in memory, which now has this number of vectors, including those of deleted chunks.
    InMemory(usize),
    /// Nothing was added, because searches use the table.
    InTable,
    /// Nothing was added, because the vectors have not been loaded.
    NotLoaded,
}

impl SharedVectors {
    fn lock_shared(&self) -> RwLockReadGuard<'_, VectorState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_exclusive(&self) -> RwLockWriteGuard<'_, VectorState> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds vectors to the copy in memory of the current model, if there is one.
    pub fn add_vectors(&self, added: &[(ChunkId, Vec<i8>)]) -> AddedVectors {
        match &mut *self.lock_exclusive() {
            VectorState::NotLoaded => AddedVectors::NotLoaded,
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

    /// Removes the vectors of all chunks except `retained` from the copy in memory. Returns false if there is no copy of this
    /// model.
    pub fn retain_chunks(&self, model: &str, retained: &IdSet) -> bool {
        let mut state = self.lock_exclusive();
        let VectorState::InMemory(copies) = &mut *state else { return false };
        let Some(copy) = copies.first_mut().filter(|copy| copy.model == model) else { return false };
        copy.vectors.retain(|id| retained.contains(id));
        true
    }

    /// Replaces all copies in memory by one copy, of this model.
    pub fn replace_copies(&self, model: &str, vectors: VectorIndex) {
        *self.lock_exclusive() =
            VectorState::InMemory(vec![VectorsOfModel { model: model.to_owned(), vectors }]);
    }

    /// Adds a copy for the model to which the database is about to switch, if the current model has a copy. From then on
    /// [`Self::find_nearest`] finds vectors of both models.
    pub fn add_next_copy(&self, model: &str, vectors: VectorIndex) {
        if let VectorState::InMemory(copies) = &mut *self.lock_exclusive() {
            copies.truncate(1);
            copies.push(VectorsOfModel { model: model.to_owned(), vectors });
        }
    }

    /// Removes the copies of all other models. If no copy is left, vectors count as not loaded.
    pub fn remove_other_models(&self, model: &str) {
        let mut state = self.lock_exclusive();
        let VectorState::InMemory(copies) = &mut *state else { return };
        copies.retain(|copy| copy.model == model);
        if copies.is_empty() {
            *state = VectorState::NotLoaded;
        }
    }

    /// Removes all copies in memory. Searches use the table then.
    pub fn use_table(&self) {
        *self.lock_exclusive() = VectorState::InTable;
    }

    /// Removes all copies in memory, which may be wrong. Vectors count as not loaded until [`Self::replace_copies`] is called.
    pub fn forget_copies(&self) {
        *self.lock_exclusive() = VectorState::NotLoaded;
    }

    /// Returns whether a copy is in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(*self.lock_shared(), VectorState::InMemory(_))
    }

    /// Returns the `k` nearest chunks as [`NearestVectors::find_nearest`] does, or why no vectors can be compared with the query.
    /// Vectors of two models are never compared.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_nearest(
        &self,
        reader: &IndexReader,
        query: &QueryVector,
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Result<Vec<(ChunkId, f64)>, VectorsUnavailable>, DatabaseError> {
        if let VectorState::InMemory(copies) = &*self.lock_shared() {
            let own =
                copies.iter().find_map(|copy| Some((&copy.vectors, query.values_for_model(&copy.model)?)));
            let Some((vectors, query)) = own else { return Ok(Err(VectorsUnavailable::OtherModel)) };
            return NearestVectors::find_nearest(vectors, query, k, among).map(Ok);
        }
        // The table is checked even if the state is `Unknown`, because the snapshot may be older than the last change of the state.
        if !reader.is_vector_table_complete()? {
            return Ok(Err(VectorsUnavailable::NotLoaded));
        }
        match query.values_for_model(&reader.model_id()?) {
            Some(query) => StoredVectors(reader).find_nearest(query, k, among).map(Ok),
            None => Ok(Err(VectorsUnavailable::OtherModel)),
        }
    }
}
