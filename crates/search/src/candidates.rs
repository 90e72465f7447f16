//! Holds the candidates of a search: chunks that the arms found, with their ranks and values, and the rows behind them.
//!
//! The arms make a [`chunk_candidate`] with its `arm_signals`; the ranking makes it `ranked`. [`row_cache`] keeps the
//! rows that searches read for them.

pub(crate) mod arm_signals;
pub mod chunk_candidate;
pub(crate) mod ranked;
pub mod row_cache;

/// Number of vectors that are read for each wanted one, before the filter is applied.
pub(crate) const SPARE: usize = 4;

/// Returns the number of candidates of an arm for a number of wanted hits.
pub(crate) fn candidate_limit(limit: usize) -> usize {
    (limit * 4).max(200)
}
