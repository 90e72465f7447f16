//! Caches the database rows that searches read for chunks and paths.
//!
//! A search compares hundreds of candidates, and earlier searches have read most of them. A cached row never becomes wrong: ids of
//! chunks are not used again, and a model always gives a path the same vector. Whether a chunk still exists, only
//! [`WorktreeChunks`](crate::worktree_chunks::WorktreeChunks) knows.

use std::sync::{Arc, Mutex, MutexGuard};

use memod_base::threads::lock;
use memod_base::types::{ChunkId, WordPieces};
use memod_database::DatabaseError;
use memod_embed::{BuiltinModel, cosine_i8};
use memod_index_db::{ChunkLocation, IndexReader};

use crate::recent_cache::RecentCache;

/// Most chunks whose location is in the cache, about 15 MB.
const MOST_PLACES: usize = 100_000;
/// Most chunks whose word pieces are in the cache: usually 5 MB, at most 50 MB.
const MAX_CHUNKS_WITH_PIECES: usize = 25_000;
/// Most paths whose word pieces are in the cache, about 4 MB.
const MAX_PATHS_WITH_PIECES: usize = 24_000;
/// Most vectors of paths in the cache, 8 MB with 256 dimensions.
const MOST_VECTORS: usize = 24_000;

/// A cache of rows of chunks and paths.
///
/// Invariant: no lock is held while the database is read.
#[derive(Default)]
pub struct RowCache {
    places: Mutex<RecentCache<ChunkId, ChunkLocation, MOST_PLACES>>,
    pieces: Mutex<RecentCache<ChunkId, Arc<WordPieces>, MAX_CHUNKS_WITH_PIECES>>,
    pieces_of_paths: Mutex<RecentCache<Box<str>, Arc<[u16]>, MAX_PATHS_WITH_PIECES>>,
    vectors: Mutex<PathVectors>,
}

/// A snapshot of the database, whose rows are read through a cache.
#[derive(Clone, Copy)]
pub(crate) struct CachedReader<'a> {
    /// The snapshot of the database.
    pub(crate) reader: &'a IndexReader,
    /// The cache.
    pub(crate) cache: &'a RowCache,
}

impl CachedReader<'_> {
    /// Returns the location of each chunk; `None` for a chunk that no longer exists.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn chunk_locations(
        self,
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<ChunkLocation>>, DatabaseError> {
        self.cache.chunk_locations(self.reader, chunks)
    }

    /// Returns the location of a chunk; `None` if the chunk no longer exists.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn chunk_location(self, chunk: ChunkId) -> Result<Option<ChunkLocation>, DatabaseError> {
        Ok(self.chunk_locations(&[chunk])?.pop().flatten())
    }

    /// Returns the word pieces of each chunk; an empty value for a chunk that no longer exists.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn chunk_pieces(self, chunks: &[ChunkId]) -> Result<Vec<Arc<WordPieces>>, DatabaseError> {
        let pieces = get_or_read(&self.cache.pieces, chunks, |chunk| {
            self.reader.chunk_pieces(chunk).map(|pieces| Some(pieces.into()))
        })?;
        Ok(pieces.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// The cached vectors of paths, all of one model.
#[derive(Default)]
struct PathVectors {
    model: String,
    vectors: RecentCache<Box<str>, Box<[i8]>, MOST_VECTORS>,
}

impl RowCache {
    /// Removes everything from the cache.
    pub fn clear(&self) {
        *lock(&self.places) = RecentCache::default();
        *lock(&self.pieces) = RecentCache::default();
        *lock(&self.pieces_of_paths) = RecentCache::default();
        *lock(&self.vectors) = PathVectors::default();
    }

    /// Returns the location of each chunk; `None` for a chunk that no longer exists.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chunk_locations(
        &self,
        reader: &IndexReader,
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<ChunkLocation>>, DatabaseError> {
        get_or_read(&self.places, chunks, |chunk| reader.chunk_location(chunk))
    }

    /// Returns the ids of the word pieces of a path, ascending.
    pub(crate) fn pieces_of_path(&self, model: &BuiltinModel, path: &str) -> Arc<[u16]> {
        if let Some(known) = lock(&self.pieces_of_paths).get(path) {
            return Arc::clone(known);
        }
        let pieces: Arc<[u16]> = model.distinct_pieces(path).into();
        lock(&self.pieces_of_paths).insert(path.into(), Arc::clone(&pieces));
        pieces
    }

    /// Returns the cosine of `vector`, made by `model`, with the vector of each path; `None` for a path without a vector.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn path_cosines(
        &self,
        reader: &IndexReader,
        (model, vector): (&str, &[i8]),
        paths: &[&str],
    ) -> Result<Vec<Option<f32>>, DatabaseError> {
        let mut cached = self.lock_vectors(model);
        let mut cosines: Vec<Option<f32>> = Vec::with_capacity(paths.len());
        for path in paths {
            let own = cached.vectors.get(*path);
            cosines.push(own.map(|own| cosine_i8(vector, own)));
        }
        drop(cached);
        let mut read: Vec<(&str, Vec<i8>)> = Vec::new();
        for (path, cosine) in paths.iter().zip(&mut cosines) {
            if cosine.is_none()
                && let Some(own) = reader.path_vector(path)?
            {
                *cosine = Some(cosine_i8(vector, &own));
                read.push((path, own));
            }
        }
        let mut cached = self.lock_vectors(model);
        read.into_iter().for_each(|(path, own)| cached.vectors.insert(path.into(), own.into()));
        Ok(cosines)
    }

    /// Locks the cached vectors of paths, and removes them first if they belong to another model.
    fn lock_vectors(&self, model: &str) -> MutexGuard<'_, PathVectors> {
        let mut cached = lock(&self.vectors);
        if cached.model != model {
            *cached = PathVectors { model: model.to_owned(), ..PathVectors::default() };
        }
        cached
    }
}

/// Returns the value of each chunk. Reads the values that are not in the cache, and adds them to the cache.
fn get_or_read<V: Clone, const MOST: usize>(
    cache: &Mutex<RecentCache<ChunkId, V, MOST>>,
    chunks: &[ChunkId],
    read: impl Fn(ChunkId) -> Result<Option<V>, DatabaseError>,
) -> Result<Vec<Option<V>>, DatabaseError> {
    let mut locked = lock(cache);
    let mut values: Vec<_> = chunks.iter().map(|chunk| locked.get(chunk).cloned()).collect();
    drop(locked);
    let mut new = Vec::new();
    for (chunk, value) in chunks.iter().zip(&mut values) {
        if value.is_none() {
            *value = read(*chunk)?;
            new.extend(value.clone().map(|value| (*chunk, value)));
        }
    }
    let mut locked = lock(cache);
    new.into_iter().for_each(|(chunk, value)| locked.insert(chunk, value));
    Ok(values)
}
