//! Orders the candidates of a search.
//!
//! `word_similarity` compares them word by word, `fuse` makes one score of the values of the arms, and `rerank`
//! multiplies it by explained factors. [`rare_word`] and [`correction_factor`] keep hits that match less below those
//! that match more.

pub mod correction_factor;
mod fuse;
pub mod rare_word;
pub(crate) mod rerank;
pub(crate) mod word_similarity;
