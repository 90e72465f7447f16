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

/// Most candidates of each arm. The number does not depend on the requested number of hits, because the scores of candidates
/// depend on the other candidates, and the first hits must be the same for every number.
pub(crate) const MOST_CANDIDATES: usize = 200;

/// Returns the most entries of a list of everything that passes the filters, for `limit` requested hits. Such a list has no scores.
pub(crate) fn list_limit(limit: usize) -> usize {
    (limit * 4).max(MOST_CANDIDATES)
}
