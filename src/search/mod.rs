//! What answers this query?

pub mod fuse;
mod names;
pub mod query;
pub mod rerank;
pub mod snippet;
pub mod sorts;
pub mod tokens;
pub mod typo;

#[cfg(test)]
mod testing;
