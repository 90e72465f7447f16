//! Declares the candidates of a search: the chunks that the arms found, with their ranks and values.
//!
//! The arms make a [`chunk_candidate`] with its `arm_signals`, and the ranking turns it into a `ranked` candidate. [`row_cache`]
//! caches the database rows that searches read for candidates.

pub(crate) mod arm_signals;
pub mod chunk_candidate;
pub(crate) mod ranked;
pub mod row_cache;

/// Number of vectors that are read for each requested vector, because a filter may exclude some of them.
pub(crate) const VECTORS_PER_REQUESTED: usize = 4;

/// Returns the most candidates of each arm, for `limit` requested hits.
pub(crate) fn candidate_limit(limit: usize) -> usize {
    (limit * 4).max(200)
}
