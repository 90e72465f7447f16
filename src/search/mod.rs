//! What answers this query?

pub mod fuse;
mod names;
pub mod query;
pub mod rerank;
pub mod sorts;
pub mod tokens;

#[cfg(test)]
mod testing;
