//! Searches the index: query, arms, fusion and ranking.
//!
//! `run` runs the arms on one snapshot; everything else is pure.

mod answer;
mod arms;
mod bm25;
mod copies;
mod definition_pieces;
mod fuse;
mod id_places;
mod listing;
mod maxsim;
mod memory_rank;
mod names;
mod path_index;
mod pool;
mod ranked;
mod text_statistics;
mod typo;
mod word_similarity;

pub mod asked;
pub mod class_rules;
pub mod correction;
pub mod expanded;
pub mod filter;
pub mod kept_rows;
pub mod memory_search;
pub mod near_copies;
pub mod path_words;
pub mod query;
pub mod rare_word;
pub mod recent;
pub mod relevance;
pub mod rerank;
pub mod restriction;
pub mod snippet;
pub mod superseded;
pub mod translation;
pub mod view_chunks;

use memod_proto::{Arms, Explain, Factor, Signal};

pub use answer::{Answer, Ask, Found, most_looked_at, run};

#[cfg(test)]
pub(crate) mod testing;

/// Number of vectors that are read for each wanted one, before the filter is applied.
const SPARE: usize = 4;

/// Returns the number of candidates of an arm for a number of wanted hits.
fn candidates(limit: usize) -> usize {
    (limit * 4).max(200)
}

/// Returns the rank of a hit in each arm.
pub fn arms(signals: &fuse::Signals) -> Arms {
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
pub fn explain(signals: &fuse::Signals, fused: f64, factors: &[(&'static str, f64)]) -> Explain {
    let text = |arm: &str, place: Option<fuse::TextRank>| {
        place.map(|place| Signal { arm: arm.to_owned(), rank: Some(place.rank), value: Some(place.bm25) })
    };
    let symbol =
        signals.symbol.map(|rank| Signal { arm: "symbol".to_owned(), rank: Some(rank), value: None });
    let is_near = signals.knn.is_some() || signals.cosine.is_some();
    let value = signals.cosine.map(f64::from);
    let knn = is_near.then(|| Signal { arm: "knn".to_owned(), rank: signals.knn, value });
    let share = |arm: &str, value: f64| {
        (value > 0.0).then(|| Signal { arm: arm.to_owned(), rank: None, value: Some(value) })
    };
    let [file, covered] = [share("file", signals.file.bm25), share("covered", signals.file.covered)];
    let maxsim = [
        share("maxsim", signals.maxsim.unwrap_or(0.0)),
        share("maxsim_head", signals.maxsim_head),
        share("maxsim_path", signals.maxsim_path),
    ];
    let arms = [text("bm25", signals.bm25), text("path", signals.path), symbol, knn];
    let arms = arms.into_iter().chain(maxsim).chain([file, covered]);
    let factors = factors.iter().map(|(name, times)| Factor { name: (*name).to_owned(), times: *times });
    Explain { signals: arms.flatten().collect(), fused, factors: factors.collect() }
}
