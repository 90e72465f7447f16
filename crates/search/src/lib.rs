//! Searches the index: query, arms, fusion and ranking.
//!
//! [`run_search`] runs the arms on one snapshot; everything else is pure.

mod answer;
mod arms;
mod bm25;
mod candidate_pool;
mod definition_pieces;
mod duplicate_paths;
mod fuse;
mod id_places;
mod listing;
mod maxsim;
mod memory_rank;
mod path_word_index;
mod ranked;
mod symbol_names;
mod text_statistics;
mod typo;
mod word_similarity;

pub mod class_rules;
pub mod correction;
pub mod filter;
pub mod memory_search;
pub mod near_copies;
pub mod path_words;
pub mod prompt_terms;
pub mod query;
pub mod query_expansion;
pub mod rare_word;
pub mod recent_cache;
pub mod relevance;
pub mod rerank;
pub mod restriction;
pub mod row_cache;
pub mod snippet;
pub mod superseded;
pub mod translation;
pub mod worktree_chunks;

use memod_proto::{Arms, Explain, Factor, Signal};

pub use answer::{FoundChunk, SearchAnswer, SearchRequest, max_compared_candidates, run_search};

#[cfg(test)]
pub(crate) mod testing;

/// Number of vectors that are read for each wanted one, before the filter is applied.
const SPARE: usize = 4;

/// Returns the number of candidates of an arm for a number of wanted hits.
fn candidate_limit(limit: usize) -> usize {
    (limit * 4).max(200)
}

/// Returns the rank of a hit in each arm.
pub fn ranks_by_arm(signals: &fuse::ArmSignals) -> Arms {
    Arms {
        rerank: None,
        bm25: signals.bm25.map(|place| place.rank),
        path: signals.path.map(|place| place.rank),
        symbol: signals.symbol,
        knn: signals.knn,
        cosine: signals.cosine,
    }
}

/// Returns the parts of a score for display.
pub fn explain_score(signals: &fuse::ArmSignals, fused: f64, factors: &[(&'static str, f64)]) -> Explain {
    let symbol =
        signals.symbol.map(|rank| Signal { arm: "symbol".to_owned(), rank: Some(rank), value: None });
    let is_near = signals.knn.is_some() || signals.cosine.is_some();
    let value = signals.cosine.map(f64::from);
    let knn = is_near.then(|| Signal { arm: "knn".to_owned(), rank: signals.knn, value });
    let text_arms = [text_signal("bm25", signals.bm25), text_signal("path", signals.path), symbol, knn];
    let shares = [
        share_signal("maxsim", signals.maxsim.unwrap_or(0.0)),
        share_signal("maxsim_head", signals.maxsim_head),
        share_signal("maxsim_path", signals.maxsim_path),
        share_signal("file", signals.file.bm25),
        share_signal("covered", signals.file.covered),
    ];
    let signals = text_arms.into_iter().chain(shares).flatten();
    let factors = factors.iter().map(|(name, times)| Factor { name: (*name).to_owned(), times: *times });
    Explain { signals: signals.collect(), fused, factors: factors.collect() }
}

fn text_signal(arm: &str, place: Option<fuse::TextRank>) -> Option<Signal> {
    place.map(|place| Signal { arm: arm.to_owned(), rank: Some(place.rank), value: Some(place.bm25) })
}

/// Returns the signal of an arm without ranks; `None` for 0.
fn share_signal(arm: &str, value: f64) -> Option<Signal> {
    (value > 0.0).then(|| Signal { arm: arm.to_owned(), rank: None, value: Some(value) })
}
