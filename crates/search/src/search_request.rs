//! Declares the parameters of a search of the index.

use memod_base::types::{RankingParts, WorktreeId};
use memod_embed::Embedder;
use memod_proto::SearchMode;
use memod_vectors::shared_vectors::SharedVectors;

use crate::candidates::row_cache::RowCache;
use crate::filter::SearchFilter;
use crate::filter::restriction::SearchConditions;
use crate::query::Query;
use crate::worktree_chunks::WorktreeChunks;

/// The parameters of a search of the index.
#[derive(Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The worktree to search.
    pub worktree: WorktreeId,
    /// The chunks of the worktree, as in the snapshot that the search reads.
    pub chunks: &'a WorktreeChunks,
    /// The parsed query.
    pub query: &'a Query,
    /// The arms that run.
    pub mode: SearchMode,
    /// The filter that every hit must pass.
    pub filter: &'a SearchFilter,
    /// Further conditions on definitions and commits.
    pub conditions: &'a SearchConditions,
    /// Parts of the ranking that have no effect.
    pub disabled_parts: RankingParts,
    /// Number of requested hits.
    pub limit: usize,
    /// Least cosine of a chunk that is found by its vector. `COSINE_FLOOR` applies if it is larger.
    pub min_cosine: f64,
    /// The embedding model, or why it cannot run.
    pub embedder: Result<&'a dyn Embedder, &'a str>,
    /// The vectors of all chunks.
    pub vectors: &'a SharedVectors,
    /// The cache of rows that earlier searches have read.
    pub row_cache: &'a RowCache,
}
