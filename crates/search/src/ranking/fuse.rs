//! Fuses the values of the arms into one score.
//!
//! The score is a sum of weight × value. The value of BM25 is the share of the best BM25, and cosines are scaled between worst and
//! best. A sum of reciprocal ranks would ignore by how much a hit leads: on labelled queries for code, documents and memories it
//! gave an nDCG@10 of 85.1, 67.4 and 50.1 instead of 87.0, 69.3 and 54.6.

use memod_base::types::{ChunkKind, RankingParts};

use crate::candidates::arm_signals::{ArmSignals, COSINE_FLOOR, TextRank};
use crate::query::Query;

/// Constant that reduces the lead of the first ranks, as in reciprocal rank fusion (Cormack, Clarke, Buettcher, "Reciprocal Rank
/// Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009).
const RANK_DAMPING: f64 = 60.0;

/// Number of the signals that are fused.
const N_SIGNALS: usize = 9;

/// Names of the signals in explanations, in the order of weights and values.
pub(super) const SIGNAL_NAMES: [&str; N_SIGNALS] =
    ["bm25", "path", "symbol", "knn", "file", "covered", "maxsim", "maxsim_head", "maxsim_path"];

/// The weight of each signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ArmWeights {
    /// Weight of BM25 over chunks.
    pub(crate) bm25: f64,
    /// Weight of BM25 over path words.
    pub(crate) path: f64,
    /// Weight of the rank among symbols.
    pub(crate) symbol: f64,
    /// Weight of the cosine.
    pub(crate) knn: f64,
    /// Weight of BM25 of the whole file.
    pub(crate) file: f64,
    /// Weight of the share of the query's words that the file contains.
    pub(crate) covered: f64,
    /// Weight of the similarity of the most similar words.
    pub(crate) maxsim: f64,
    /// Weight of the same similarity, for names and first lines.
    pub(crate) maxsim_head: f64,
    /// Weight of the same similarity, for the path.
    pub(crate) maxsim_path: f64,
}

/// The weights for each kind of hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WeightsByKind {
    /// Weights for code, commits and other text.
    pub(crate) code: ArmWeights,
    /// Weights for sections of documents.
    pub(crate) doc: ArmWeights,
}

/// The weights if words are not compared one by one. The vectors of documents count more than the vectors of code.
const WEIGHTS_WITHOUT_MAXSIM: WeightsByKind = {
    let code = ArmWeights {
        bm25: 1.0,
        path: 0.15,
        symbol: 0.25,
        knn: 0.65,
        file: 0.3,
        covered: 0.15,
        maxsim: 0.0,
        maxsim_head: 0.0,
        maxsim_path: 0.0,
    };
    WeightsByKind { code, doc: ArmWeights { knn: 1.0, ..code } }
};

/// The weights if words are compared one by one. For code, this comparison counts most. A section of a document has one subject,
/// which its vector and BM25 find. The sum of the weights for documents ranks them relative to code as [`WEIGHTS_WITHOUT_MAXSIM`]
/// does.
const WEIGHTS_WITH_MAXSIM: WeightsByKind = WeightsByKind {
    code: ArmWeights {
        bm25: 0.3,
        path: 0.1,
        symbol: 0.15,
        knn: 0.4,
        file: 0.3,
        covered: 0.0,
        maxsim: 1.0,
        maxsim_head: 0.2,
        maxsim_path: 0.4,
    },
    doc: ArmWeights {
        bm25: 0.7,
        path: 0.1,
        symbol: 0.0,
        knn: 0.7,
        file: 0.2,
        covered: 0.1,
        maxsim: 0.0,
        maxsim_head: 0.0,
        maxsim_path: 0.0,
    },
};

impl WeightsByKind {
    /// Returns the weights for a query. For a single name the vector counts half, because the spelling of a name matters.
    ///
    /// The weights were chosen on repositories outside the quality sets (docs/src/reference/benchmarks-history.md, Ranking).
    pub(crate) fn new(query: &Query, has_maxsim: bool) -> Self {
        let mut weights = if has_maxsim { WEIGHTS_WITH_MAXSIM } else { WEIGHTS_WITHOUT_MAXSIM };
        if query.looks_like_symbol() {
            weights.code.knn *= 0.5;
            weights.doc.knn *= 0.5;
        }
        weights
    }

    /// Returns the weights, with 0 for the signals in `parts`.
    #[must_use]
    pub(crate) fn without_parts(mut self, parts: RankingParts) -> Self {
        for weights in [&mut self.code, &mut self.doc] {
            let named = SIGNAL_NAMES.into_iter().zip(weights.as_array_mut());
            named.filter(|(arm, _)| parts.contains_name(arm)).for_each(|(_, weight)| *weight = 0.0);
        }
        self
    }

    /// Returns the weights for hits of a kind.
    fn for_kind(&self, kind: ChunkKind) -> &ArmWeights {
        if kind == ChunkKind::Doc { &self.doc } else { &self.code }
    }
}

impl ArmWeights {
    fn as_array_mut(&mut self) -> [&mut f64; N_SIGNALS] {
        let Self { bm25, path, symbol, knn, file, covered, maxsim, maxsim_head, maxsim_path } = self;
        [bm25, path, symbol, knn, file, covered, maxsim, maxsim_head, maxsim_path]
    }

    fn to_array(mut self) -> [f64; N_SIGNALS] {
        self.as_array_mut().map(|weight| *weight)
    }
}

/// Returns one score for each candidate, `[n_candidates]`, 0 to 1. A candidate has the score 1 if it is the best in every arm that
/// found anything.
pub(crate) fn fuse_scores(candidates: &[(ChunkKind, ArmSignals)], weights: &WeightsByKind) -> Vec<f64> {
    let spread = SignalScale::from_candidates(candidates);
    let best = best_possible_score(candidates, weights);
    candidates
        .iter()
        .map(|(kind, signals)| {
            (weigh_values(weights.for_kind(*kind), spread.scale_signals(signals)) / best).clamp(0.0, 1.0)
        })
        .collect()
}

/// Returns the weighted sum of the values of a candidate.
fn weigh_values(weights: &ArmWeights, values: [f64; N_SIGNALS]) -> f64 {
    values.iter().zip(weights.to_array()).map(|(value, weight)| value * weight).sum()
}

/// Returns the weighted sum of a candidate that is the best in every arm that found anything; 1 if no arm found anything.
fn best_possible_score(candidates: &[(ChunkKind, ArmSignals)], weights: &WeightsByKind) -> f64 {
    let found = |has: fn(&ArmSignals) -> bool| {
        f64::from(u8::from(candidates.iter().any(|(_, signals)| has(signals))))
    };
    let file = found(|s| s.file.bm25 > 0.0);
    let arms = [
        found(|s| s.bm25.is_some()),
        found(|s| s.path.is_some()),
        found(|s| s.symbol.is_some()),
        found(|s| s.knn.is_some() || s.cosine.is_some()),
        file,
        file,
        found(|s| s.maxsim.is_some()),
        found(|s| s.maxsim_head > 0.0),
        found(|s| s.maxsim_path > 0.0),
    ];
    let sum =
        candidates.iter().map(|(kind, _)| weigh_values(weights.for_kind(*kind), arms)).fold(0.0, f64::max);
    if sum > 0.0 { sum } else { 1.0 }
}

/// Returns the value of a rank: 1 for the first rank, less for later ranks, 0 without a rank.
fn reciprocal_rank(rank: Option<u32>) -> f64 {
    rank.map_or(0.0, |rank| (RANK_DAMPING + 1.0) / (RANK_DAMPING + f64::from(rank.max(1))))
}

/// The best and worst values among the candidates of a query, by which values are scaled.
struct SignalScale {
    best_bm25: f64,
    best_path: f64,
    worst_cosine: f32,
    best_cosine: f32,
}

impl SignalScale {
    fn from_candidates(candidates: &[(ChunkKind, ArmSignals)]) -> Self {
        let cosines = candidates.iter().filter_map(|(_, signals)| signals.cosine);
        Self {
            best_bm25: best_text_score(candidates, |signals| signals.bm25),
            best_path: best_text_score(candidates, |signals| signals.path),
            worst_cosine: cosines.clone().fold(f32::INFINITY, f32::min).max(COSINE_FLOOR),
            best_cosine: cosines.fold(COSINE_FLOOR, f32::max),
        }
    }

    /// Returns the values of a candidate's signals, each 0 to 1. The values of successive symbol ranks differ little, because the
    /// order of equal names means nothing.
    fn scale_signals(&self, signals: &ArmSignals) -> [f64; N_SIGNALS] {
        [
            text_share(signals.bm25, self.best_bm25),
            text_share(signals.path, self.best_path),
            reciprocal_rank(signals.symbol),
            signals.cosine.map_or(0.0, |cosine| self.scale_cosine(cosine)),
            signals.file.bm25,
            signals.file.covered,
            signals.maxsim.unwrap_or(0.0),
            signals.maxsim_head,
            signals.maxsim_path,
        ]
    }

    /// Returns a cosine on the scale from the worst to the best; 0 for noise.
    fn scale_cosine(&self, cosine: f32) -> f64 {
        if cosine <= COSINE_FLOOR {
            return 0.0;
        }
        let range = self.best_cosine - self.worst_cosine;
        if range > 0.0 { f64::from((cosine - self.worst_cosine) / range).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// Returns the largest BM25 among the ranks that `place` selects.
fn best_text_score(
    candidates: &[(ChunkKind, ArmSignals)],
    place: fn(&ArmSignals) -> Option<TextRank>,
) -> f64 {
    candidates.iter().filter_map(|(_, signals)| place(signals)).map(|place| place.bm25).fold(0.0, f64::max)
}

/// Returns BM25 as a share of the best; 0 without a rank.
fn text_share(place: Option<TextRank>, best: f64) -> f64 {
    place.filter(|_| best > 0.0).map_or(0.0, |place| (place.bm25 / best).max(0.0))
}

#[cfg(test)]
mod tests {
    use memod_base::types::RankingPart;

    use super::*;
    use crate::query::parse_query;

    fn signals(bm25: u32, knn: u32, cosine: f32) -> (ChunkKind, ArmSignals) {
        let place = |rank| TextRank { rank, bm25: 10.0 / f64::from(rank) };
        let some = |rank| Some(rank).filter(|&rank| rank > 0);
        let cosine = Some(cosine).filter(|&cosine| cosine > 0.0);
        (
            ChunkKind::Symbol,
            ArmSignals { bm25: some(bm25).map(place), knn: some(knn), cosine, ..ArmSignals::default() },
        )
    }

    fn scores(candidates: &[(ChunkKind, ArmSignals)]) -> Vec<f64> {
        fuse_scores(candidates, &WeightsByKind::new(&parse_query("some words"), false))
    }

    #[test]
    fn better_places_score_higher() {
        let scores =
            scores(&[signals(1, 1, 0.9), signals(2, 2, 0.8), signals(3, 0, 0.0), signals(0, 3, 0.7)]);
        assert!(scores.is_sorted_by(|left, right| left > right), "{scores:?}");
        assert!((scores[0] - 1.0).abs() < 1e-9, "{scores:?}");
    }

    #[test]
    fn scores_are_shares_whatever_the_arms_say() {
        let odd = [f64::NAN, f64::INFINITY, 0.0, 5.0, -3.0];
        assert!(scores(&[]).is_empty());
        for bm25 in odd {
            let place = Some(TextRank { rank: 0, bm25 });
            let one = ArmSignals { bm25: place, cosine: Some(bm25 as f32), ..ArmSignals::default() };
            let found = scores(&[(ChunkKind::Doc, one), (ChunkKind::Text, ArmSignals::default())]);
            assert!(found.iter().all(|score| !(score.is_nan() && bm25.is_finite())), "{bm25} {found:?}");
            assert!(bm25.is_nan() || found.iter().all(|score| (0.0..=1.0).contains(score)));
        }
    }

    #[test]
    fn a_part_that_is_left_out_decides_nothing() {
        let found = [signals(1, 3, 0.4), signals(2, 1, 0.9)];
        let scores = |part: &str| {
            let parts = RankingPart::parse(part).into_iter().collect();
            fuse_scores(&found, &WeightsByKind::new(&parse_query("some words"), false).without_parts(parts))
        };
        assert_eq!(scores("knn"), [1.0, 0.5], "BM25 alone");
        assert_eq!(scores("bm25"), [0.0, 1.0], "the cosine alone");
        assert_eq!(
            scores("path"),
            fuse_scores(&found, &WeightsByKind::new(&parse_query("some words"), false))
        );
    }

    #[test]
    fn a_cosine_of_noise_adds_nothing() {
        let found = scores(&[signals(1, 1, 0.2), signals(2, 2, 0.1)]);
        let alone = scores(&[signals(1, 0, 0.2), signals(2, 0, 0.1)]);
        assert_eq!(found, alone);
    }
}
