//! Explains how a hit was ranked.

use memod_proto::{Arms, Explain, Factor, Signal};

use crate::candidates::arm_signals::{ArmSignals, TextRank};

/// Returns the rank of a hit in each arm.
pub fn ranks_by_arm(signals: &ArmSignals) -> Arms {
    Arms {
        rerank: None,
        bm25: signals.bm25.map(|place| place.rank),
        path: signals.path.map(|place| place.rank),
        symbol: signals.symbol,
        knn: signals.knn,
        cosine: signals.cosine,
    }
}

/// Returns the signals and factors of a score for display.
pub fn explain_score(signals: &ArmSignals, fused: f64, factors: &[(&'static str, f64)]) -> Explain {
    let symbol =
        signals.symbol.map(|rank| Signal { arm: "symbol".to_owned(), rank: Some(rank), value: None });
    let is_near = signals.knn.is_some() || signals.cosine.is_some();
    let value = signals.cosine.map(f64::from);
    let knn = is_near.then(|| Signal { arm: "knn".to_owned(), rank: signals.knn, value });
    let text_arms =
        [build_bm25_signal("bm25", signals.bm25), build_bm25_signal("path", signals.path), symbol, knn];
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

/// Returns the signal of an arm with ranks by BM25; `None` without a rank.
fn build_bm25_signal(arm: &str, place: Option<TextRank>) -> Option<Signal> {
    place.map(|place| Signal { arm: arm.to_owned(), rank: Some(place.rank), value: Some(place.bm25) })
}

/// Returns the signal of a value without a rank; `None` for a value of 0.
fn share_signal(arm: &str, value: f64) -> Option<Signal> {
    (value > 0.0).then(|| Signal { arm: arm.to_owned(), rank: None, value: Some(value) })
}
