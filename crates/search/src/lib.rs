//! Searches the index: query, arms, fusion and ranking.
//!
//! The way of a search: [`query`] parses what was typed, and [`filter`] turns its demands into a set of chunks. `arms`
//! find chunks of [`worktree_chunks`] with `text_scores` and vectors, and collect them as [`candidates`]; [`ranking`]
//! puts them in order, with [`paths`] among its reasons. If they are few, [`correction`] asks again with other words.
//! [`hits`] prepares what is shown. [`memory_search`] does the same for memories.
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
