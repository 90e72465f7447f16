//! Prepares hits to be shown: adds hits of other words, finds copies, cuts snippets, and explains the order.

pub mod explain;
pub mod near_copies;
pub mod query_expansion;
pub mod snippet;
