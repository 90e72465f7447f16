//! Orders the candidates of a search.
//!
//! `word_similarity` compares the candidates with the query word by word. `fuse` makes one score of the values of all arms, and
//! `rerank` multiplies the score by factors that it can explain. [`rare_word`] and [`correction_factor`] lower hits that match only
//! approximately below the exact hits. [`beside_definition`] places memories after the definition of the name that was asked for.

pub mod beside_definition;
pub mod correction_factor;
mod fuse;
pub mod rare_word;
pub(crate) mod rerank;
pub(crate) mod word_similarity;
