//! Keeps in memory what searches have read of chunks and paths.
//!
//! A search looks at hundreds of candidates, mostly those of the searches before. What is kept never changes: ids of chunks
//! are not used again, and a model gives a path one vector. Whether there is still such a chunk says the view.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recent::Recent;
use crate::embed::cosine_i8;
use crate::store::{Place, Reader, StoreError};
use crate::types::ChunkId;

/// Most places that are kept, some 15 MB.
const MOST_PLACES: usize = 100_000;
/// Most chunks whose pieces are kept: 5 MB as a rule, 50 if each had the most.
const MOST_PIECES: usize = 25_000;
/// Most vectors of paths that are kept, 8 MB with 256 dimensions.
const MOST_VECTORS: usize = 24_000;

/// What was read of chunks and paths.
///
/// Invariant: a lock is held only inside these functions, never across a read of the database.
#[derive(Default)]
pub struct KeptRows {
    places: Mutex<Recent<ChunkId, Place>>,
    pieces: Mutex<Recent<ChunkId, Arc<[u16]>>>,
    vectors: Mutex<VectorsOfPaths>,
}

#[derive(Default)]
struct VectorsOfPaths {
    model: String,
    vectors: Recent<Box<str>, Box<[i8]>>,
}

impl KeptRows {
    /// Forgets everything.
    pub fn clear(&self) {
        *lock(&self.places) = Recent::default();
        *lock(&self.pieces) = Recent::default();
        *lock(&self.vectors) = VectorsOfPaths::default();
    }

    /// Returns where chunks are; `None` for one that is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn places(&self, reader: &Reader, chunks: &[ChunkId]) -> Result<Vec<Option<Place>>, StoreError> {
        let mut kept = lock(&self.places);
        let mut places: Vec<_> = chunks.iter().map(|chunk| kept.get(chunk, MOST_PLACES).cloned()).collect();
        drop(kept);
        let mut read = Vec::new();
        for (chunk, place) in chunks.iter().zip(&mut places) {
            if place.is_none() {
                *place = reader.place(*chunk)?;
                read.extend(place.clone().map(|place| (*chunk, place)));
            }
        }
        let mut kept = lock(&self.places);
        read.into_iter().for_each(|(chunk, place)| kept.put(chunk, place, MOST_PLACES));
        Ok(places)
    }

    /// Returns where a chunk is; `None` if it is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn place(&self, reader: &Reader, chunk: ChunkId) -> Result<Option<Place>, StoreError> {
        Ok(self.places(reader, &[chunk])?.pop().flatten())
    }

    /// Returns the pieces of the words of chunks, ascending; none of one that is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pieces(&self, reader: &Reader, chunks: &[ChunkId]) -> Result<Vec<Arc<[u16]>>, StoreError> {
        let mut kept = lock(&self.pieces);
        let all: Vec<_> = chunks.iter().map(|chunk| kept.get(chunk, MOST_PIECES).cloned()).collect();
        drop(kept);
        let mut read = Vec::new();
        let pieces = chunks.iter().zip(all).map(|(chunk, pieces)| match pieces {
            Some(pieces) => Ok(pieces),
            None => {
                let pieces: Arc<[u16]> = reader.pieces(*chunk)?.into();
                read.push((*chunk, Arc::clone(&pieces)));
                Ok(pieces)
            }
        });
        let pieces = pieces.collect::<Result<_, _>>()?;
        let mut kept = lock(&self.pieces);
        read.into_iter().for_each(|(chunk, pieces)| kept.put(chunk, pieces, MOST_PIECES));
        Ok(pieces)
    }

    /// Returns the cosine of a vector of this model with those of paths; `None` for one that has none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cosines(
        &self,
        reader: &Reader,
        (model, vector): (&str, &[i8]),
        paths: &[&str],
    ) -> Result<Vec<Option<f32>>, StoreError> {
        let mut kept = self.of_model(model);
        let mut of_kept =
            |path: &&str| kept.vectors.get(*path, MOST_VECTORS).map(|own| cosine_i8(vector, own));
        let mut cosines: Vec<Option<f32>> = paths.iter().map(&mut of_kept).collect();
        drop(kept);
        let mut read: Vec<(&str, Vec<i8>)> = Vec::new();
        for (path, cosine) in paths.iter().zip(&mut cosines) {
            if cosine.is_none()
                && let Some(own) = reader.path_vector(path)?
            {
                *cosine = Some(cosine_i8(vector, &own));
                read.push((path, own));
            }
        }
        let mut kept = self.of_model(model);
        read.into_iter().for_each(|(path, own)| kept.vectors.put(path.into(), own.into(), MOST_VECTORS));
        Ok(cosines)
    }

    /// Returns the vectors of paths, without those of another model.
    fn of_model(&self, model: &str) -> MutexGuard<'_, VectorsOfPaths> {
        let mut kept = lock(&self.vectors);
        if kept.model != model {
            *kept = VectorsOfPaths { model: model.to_owned(), ..VectorsOfPaths::default() };
        }
        kept
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
