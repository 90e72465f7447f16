//! Declares a search of the index.

use memod_base::types::{RankingParts, WorktreeId};
use memod_embed::Embedder;
use memod_proto::SearchMode;
use memod_vectors::shared_vectors::SharedVectors;

use crate::candidates::row_cache::RowCache;
use crate::filter::SearchFilter;
use crate::filter::restriction::SearchConditions;
use crate::query::Query;
use crate::worktree_chunks::WorktreeChunks;

/// A search of the index.
#[derive(Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The worktree that is searched.
    pub worktree: WorktreeId,
    /// The chunks of the worktree in the reader's snapshot.
    pub chunks: &'a WorktreeChunks,
    /// The parsed query.
    pub query: &'a Query,
    /// The arms that run.
    pub mode: SearchMode,
    /// The filter that every hit passes.
    pub filter: &'a SearchFilter,
    /// Conditions beyond the filter.
    pub conditions: &'a SearchConditions,
    /// Parts of the ranking that have no effect.
    pub without: RankingParts,
    /// Number of hits wanted.
    pub limit: usize,
    /// Lowest cosine of a chunk that is found by its vector; never below the cosine of noise.
    pub min_cosine: f64,
    /// The embedding model, or why it cannot run.
    pub embedder: Result<&'a dyn Embedder, &'a str>,
    /// The vectors of all chunks.
    pub vectors: &'a SharedVectors,
    /// The rows that were read before.
    pub row_cache: &'a RowCache,
}
