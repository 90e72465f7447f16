//! Searches the index: query, arms, fusion and ranking.
//!
//! The steps of a search: [`query`] parses the typed text, and [`filter`] turns its conditions into a set of chunks. `arms` find
//! chunks of [`worktree_chunks`] by words (`text_scores`) and by vectors, and collect them as [`candidates`]. [`ranking`] orders
//! the candidates, among other things by their [`paths`]. If few hits match exactly, [`correction`] corrects the query for a second
//! search. [`hits`] prepares the hits for display. [`memory_search`] searches memories in the same way.
//!
//! [`run_search`] runs the arms on one snapshot; everything else is pure.

mod answer;
mod arms;
mod search_request;
mod text_scores;

pub mod candidates;
pub mod correction;
pub mod filter;
pub mod hits;
pub mod memory_search;
pub mod paths;
pub mod query;
pub mod ranking;
pub mod recent_cache;
pub mod worktree_chunks;

pub use answer::{FoundChunk, SearchAnswer, max_compared_candidates, run_search};
pub use search_request::SearchRequest;

#[cfg(test)]
mod testing;
