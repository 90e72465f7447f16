//! Scores the answer to a question by the ranks of the relevant records.
//!
//! Gain is binary, and the first ten ranks count. The metrics are defined as in trec_eval and the BEIR benchmark (Thakur et al.,
//! "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models", NeurIPS 2021).

use std::collections::BTreeSet;

/// Number of ranks that count.
pub(crate) const RANK_CUT: usize = 10;

/// Number of metrics.
pub(crate) const N_METRICS: usize = 4;

/// Name of each metric in tables and in JSON.
pub(crate) const RANK_METRICS: [(&str, &str); N_METRICS] =
    [("nDCG@10", "ndcg_10"), ("MRR@10", "mrr_10"), ("R@5", "recall_5"), ("R@10", "recall_10")];

/// The metrics of a question, each 0 to 1, in the order of [`RANK_METRICS`].
pub(crate) type RankScores = [f64; N_METRICS];

/// Scores the answer to one question. `ranks` has the rank of each relevant record, from 0; `None` means that the record was not
/// found. Two records may have the same rank, if one hit matches both.
pub(crate) fn score_ranks(ranks: &[Option<usize>]) -> RankScores {
    let hits: BTreeSet<usize> = ranks.iter().flatten().copied().filter(|rank| *rank < RANK_CUT).collect();
    let gain: f64 = hits.iter().copied().map(rank_discount).sum();
    let ideal: f64 = (0..ranks.len().min(RANK_CUT)).map(rank_discount).sum();
    let first = hits.first().map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    [
        if ranks.is_empty() { 0.0 } else { gain / ideal },
        first,
        recall_at(5, ranks),
        recall_at(RANK_CUT, ranks),
    ]
}

/// Returns the recall at a cut: the share of the records whose rank is below `cut`.
fn recall_at(cut: usize, ranks: &[Option<usize>]) -> f64 {
    ranks.iter().flatten().filter(|rank| **rank < cut).count() as f64 / ranks.len().max(1) as f64
}

/// Returns the discounted gain of a rank, counted from 0 (Järvelin, Kekäläinen, "Cumulated gain-based evaluation of IR
/// techniques", TOIS 2002).
fn rank_discount(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let third = 1.0 / 3f64.log2();
        let cases: [(&[Option<usize>], RankScores); 8] = [
            (&[Some(0)], [1.0; 4]),
            (&[Some(1)], [third, 0.5, 1.0, 1.0]),
            (&[None], [0.0; 4]),
            (&[Some(10)], [0.0; 4]),
            (&[Some(6)], [1.0 / 3.0, 1.0 / 7.0, 0.0, 1.0]),
            (&[Some(0), None], [1.0 / (1.0 + third), 1.0, 0.5, 0.5]),
            (&[Some(1), Some(0)], [1.0; 4]),
            // One hit that matches both records counts once.
            (&[Some(0), Some(0)], [1.0 / (1.0 + third), 1.0, 1.0, 1.0]),
        ];
        for (ranks, expected) in cases {
            let found = score_ranks(ranks);
            let is_near =
                found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
            assert!(is_near, "{ranks:?}: {found:?}, not {expected:?}");
        }
    }

    #[test]
    fn the_ideal_of_many_fills_the_first_ten() {
        let ranks: Vec<Option<usize>> = (0..12).map(Some).collect();
        let [ndcg, mrr, recall_5, recall_10] = score_ranks(&ranks);
        assert!((ndcg - 1.0).abs() < 1e-12 && (mrr - 1.0).abs() < 1e-12);
        assert!((recall_5 - 5.0 / 12.0).abs() < 1e-12 && (recall_10 - 10.0 / 12.0).abs() < 1e-12);
    }
}
