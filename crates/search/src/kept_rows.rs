//! Keeps in memory what searches have read of chunks and paths.
//!
//! A search looks at hundreds of candidates, mostly those of the searches before. What is kept never changes: ids of chunks
//! are not used again, and a model gives a path one vector. Whether there is still such a chunk says the view.

use std::sync::{Arc, Mutex, MutexGuard};

use memod_base::threads::lock;
use memod_base::types::{ChunkId, Pieces};
use memod_database::DatabaseError;
use memod_embed::{Builtin, cosine_i8};
use memod_index_db::{Place, Reader};

use super::recent::Recent;

/// Most places that are kept, some 15 MB.
const MOST_PLACES: usize = 100_000;
/// Most chunks whose pieces are kept: 5 MB as a rule, 50 if each had the most.
const MOST_PIECES: usize = 25_000;
/// Most paths whose pieces are kept, some 4 MB.
const MOST_PATHS: usize = 24_000;
/// Most vectors of paths that are kept, 8 MB with 256 dimensions.
const MOST_VECTORS: usize = 24_000;

/// What was read of chunks and paths.
///
/// Invariant: a lock is held only inside these functions, never across a read of the database.
#[derive(Default)]
pub struct KeptRows {
    places: Mutex<Recent<ChunkId, Place>>,
    pieces: Mutex<Recent<ChunkId, Arc<Pieces>>>,
    pieces_of_paths: Mutex<Recent<Box<str>, Arc<[u16]>>>,
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
        *lock(&self.pieces_of_paths) = Recent::default();
        *lock(&self.vectors) = VectorsOfPaths::default();
    }

    /// Returns where chunks are; `None` for one that is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn places(&self, reader: &Reader, chunks: &[ChunkId]) -> Result<Vec<Option<Place>>, DatabaseError> {
        kept_or_read(&self.places, MOST_PLACES, chunks, |chunk| reader.place(chunk))
    }

    /// Returns where a chunk is; `None` if it is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn place(&self, reader: &Reader, chunk: ChunkId) -> Result<Option<Place>, DatabaseError> {
        Ok(self.places(reader, &[chunk])?.pop().flatten())
    }

    /// Returns the pieces of the words of chunks; none of one that is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn pieces(
        &self,
        reader: &Reader,
        chunks: &[ChunkId],
    ) -> Result<Vec<Arc<Pieces>>, DatabaseError> {
        let read = |chunk| reader.pieces(chunk).map(|pieces| Some(pieces.into()));
        let pieces = kept_or_read(&self.pieces, MOST_PIECES, chunks, read)?;
        Ok(pieces.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Returns the pieces of the words of a path, ascending.
    pub(crate) fn pieces_of_path(&self, model: &Builtin, path: &str) -> Arc<[u16]> {
        if let Some(kept) = lock(&self.pieces_of_paths).get(path, MOST_PATHS) {
            return Arc::clone(kept);
        }
        let pieces: Arc<[u16]> = model.pieces(path).into();
        lock(&self.pieces_of_paths).put(path.into(), Arc::clone(&pieces), MOST_PATHS);
        pieces
    }

    /// Returns the cosine of a vector of this model with those of paths; `None` for one that has none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn cosines(
        &self,
        reader: &Reader,
        (model, vector): (&str, &[i8]),
        paths: &[&str],
    ) -> Result<Vec<Option<f32>>, DatabaseError> {
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

/// Returns the value of each chunk, and reads and keeps those that are not known.
fn kept_or_read<V: Clone>(
    kept: &Mutex<Recent<ChunkId, V>>,
    most: usize,
    chunks: &[ChunkId],
    read: impl Fn(ChunkId) -> Result<Option<V>, DatabaseError>,
) -> Result<Vec<Option<V>>, DatabaseError> {
    let mut locked = lock(kept);
    let mut values: Vec<_> = chunks.iter().map(|chunk| locked.get(chunk, most).cloned()).collect();
    drop(locked);
    let mut new = Vec::new();
    for (chunk, value) in chunks.iter().zip(&mut values) {
        if value.is_none() {
            *value = read(*chunk)?;
            new.extend(value.clone().map(|value| (*chunk, value)));
        }
    }
    let mut locked = lock(kept);
    new.into_iter().for_each(|(chunk, value)| locked.put(chunk, value, most));
    Ok(values)
}
