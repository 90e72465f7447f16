//! Estimates means and their 95 % confidence intervals.
//!
//! The percentile bootstrap of Efron ("Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7, 1979):
//! the questions of each set are drawn again with replacement, and the mean over the sets is computed. The seed is fixed, so
//! equal scores give equal intervals.

use serde::Serialize;

/// Number of times that the questions are drawn again.
const N_DRAWS: usize = 2_000;
const SEED: u64 = 7;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct MeanEstimate {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl MeanEstimate {
    /// Returns whether the interval excludes 0, so that a difference is significant.
    pub(crate) fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Estimates the mean of each of `K` values over all sets. `sets` has the shape `[n_sets][n_questions][K]`, and each set has the
/// same weight. A set without questions is ignored.
pub(crate) fn estimate_means<const K: usize>(sets: &[Vec<[f64; K]>]) -> [MeanEstimate; K] {
    let sets: Vec<&[[f64; K]]> = sets.iter().map(Vec::as_slice).filter(|set| !set.is_empty()).collect();
    let mut random = SplitMix(SEED);
    let draws: Vec<[f64; K]> = (0..N_DRAWS)
        .map(|_| {
            mean_of_rows(
                sets.iter()
                    .map(|set| mean_of_rows((0..set.len()).map(|_| set[random.next_below(set.len())]))),
            )
        })
        .collect();
    let means = mean_of_rows(sets.iter().map(|set| mean_of_rows(set.iter().copied())));
    std::array::from_fn(|nth| {
        let mut drawn: Vec<f64> = draws.iter().map(|draw| draw[nth]).collect();
        drawn.sort_by(f64::total_cmp);
        let tail = N_DRAWS / 40;
        MeanEstimate { mean: means[nth], low: drawn[tail], high: drawn[N_DRAWS - tail - 1] }
    })
}

/// Returns the mean of each column; 0 without rows.
fn mean_of_rows<const K: usize>(rows: impl ExactSizeIterator<Item = [f64; K]>) -> [f64; K] {
    let n_rows = rows.len().max(1) as f64;
    let mut sums = [0.0; K];
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.map(|sum| sum / n_rows)
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `n`, all with nearly the same probability (Lemire, "Fast Random Integer Generation in an Interval",
    /// 2019).
    fn next_below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_about_the_mean() {
        let coins: Vec<[f64; 2]> = (0..100).map(|nth| [f64::from(nth % 2), 1.0]).collect();
        let [one, sure] = estimate_means(std::slice::from_ref(&coins));
        // 1.96 standard errors of 0.05 on either side.
        assert!((one.mean - 0.5).abs() < 1e-12, "{one:?}");
        assert!((one.low - 0.402).abs() < 0.02 && (one.high - 0.598).abs() < 0.02, "{one:?}");
        assert_eq!(sure, MeanEstimate { mean: 1.0, low: 1.0, high: 1.0 });
        assert_eq!(estimate_means(&[coins]), [one, sure], "the seed is fixed");
    }

    #[test]
    fn each_set_weighs_the_same() {
        let [found] = estimate_means(&[vec![[1.0]; 9], vec![[0.0]; 3], Vec::new()]);
        assert_eq!(found, MeanEstimate { mean: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn only_an_interval_without_0_is_clear() {
        let estimate = |low, high| MeanEstimate { mean: 0.0, low, high };
        assert!(estimate(0.1, 0.2).is_significant() && estimate(-0.2, -0.1).is_significant());
        assert!(!estimate(-0.1, 0.1).is_significant() && !estimate(0.0, 0.1).is_significant());
        assert!(!estimate_means::<1>(&[])[0].is_significant());
    }
}
