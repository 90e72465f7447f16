//! What answers this query?
//!
//! `run` asks the arms on one snapshot; everything else here is pure.

mod arms;

pub mod fuse;
mod names;
pub mod nearest;
pub mod query;
pub mod rerank;
pub mod snippet;
pub mod sorts;
pub mod typo;

pub use arms::{Answer, Ask, Found, run};

#[cfg(test)]
pub(crate) mod testing;
