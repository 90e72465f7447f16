//! Prepares hits for display: adds hits of other words, finds copies, cuts snippets, and explains scores.

pub mod explain;
pub mod near_copies;
pub mod query_expansion;
pub mod snippet;
