//! Shares the vectors of all chunks between searches and the writer.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_embed::QueryVector;
use memod_index_db::Reader;

use crate::nearest::{IdSet, Nearest, VectorIndex};
use crate::stored_vectors::StoredVectors;

/// Where searches find the vectors.
#[derive(Default)]
enum State {
    /// Nowhere yet.
    #[default]
    Unknown,
    /// The first is of the model that answers. While the daemon switches to another model, the second is of that one.
    InMemory(Vec<VectorsOfModel>),
    /// In the table of sqlite-vec, once it has all of them.
    InTable,
}

/// A copy of the vectors of one model.
struct VectorsOfModel {
    model: String,
    vectors: VectorIndex,
}

/// Why there is nothing that the query can be compared with.
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
            State::InMemory(copies) => {
                let Some(VectorsOfModel { vectors, .. }) = copies.first_mut() else {
                    return Adding::NotLoaded;
                };
                added.iter().for_each(|(id, vector)| vectors.add(*id, vector));
                Adding::InMemory(vectors.len())
            }
        }
    }

    /// Removes the vectors of other chunks from the copy in memory; returns whether there is one of this model.
    pub fn retain(&self, model: &str, kept: &IdSet) -> bool {
        let mut state = self.write();
        let State::InMemory(copies) = &mut *state else { return false };
        let Some(copy) = copies.first_mut().filter(|copy| copy.model == model) else { return false };
        copy.vectors.retain(|id| kept.contains(id));
        true
    }

    /// Replaces the copies in memory.
    pub fn replace(&self, model: &str, vectors: VectorIndex) {
        *self.write() = State::InMemory(vec![VectorsOfModel { model: model.to_owned(), vectors }]);
    }

    /// Adds a copy for the model that the database is about to be switched to, if there is one for the present model: from
    /// then on [`Self::top`] answers for both.
    pub fn prepare(&self, model: &str, vectors: VectorIndex) {
        if let State::InMemory(copies) = &mut *self.write() {
            copies.truncate(1);
            copies.push(VectorsOfModel { model: model.to_owned(), vectors });
        }
    }

    /// Removes the copies of other models; returns whether there is one of this model.
    pub fn keep_only(&self, model: &str) -> bool {
        let mut state = self.write();
        let State::InMemory(copies) = &mut *state else { return false };
        copies.retain(|copy| copy.model == model);
        let is_any = !copies.is_empty();
        if !is_any {
            *state = State::Unknown;
        }
        is_any
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

    /// Like [`Nearest::top`]. Vectors of two models are never compared.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn top(
        &self,
        reader: &Reader,
        query: &QueryVector,
        k: usize,
        among: Option<&IdSet>,
    ) -> Result<Result<Vec<(ChunkId, f64)>, NoVectors>, DatabaseError> {
        if let State::InMemory(copies) = &*self.read() {
            let own = copies.iter().find_map(|copy| Some((&copy.vectors, query.for_model(&copy.model)?)));
            let Some((vectors, query)) = own else { return Ok(Err(NoVectors::OtherModel)) };
            return Nearest::top(vectors, query, k, among).map(Ok);
        }
        // Even if nothing is loaded: the snapshot may be older than the last change of place.
        if !reader.has_vector_table()? {
            return Ok(Err(NoVectors::NotLoaded));
        }
        match query.for_model(&reader.model()?) {
            Some(query) => StoredVectors(reader).top(query, k, among).map(Ok),
            None => Ok(Err(NoVectors::OtherModel)),
        }
    }
}
