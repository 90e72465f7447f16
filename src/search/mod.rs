//! What answers this query?

pub mod fuse;
mod names;
pub mod query;
pub mod rerank;
pub mod sorts;

#[cfg(test)]
mod testing;
