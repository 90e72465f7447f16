//! Moves the hits of a corrected query below the exact hits, or above all others.

use crate::candidates::ranked::RankedCandidate;

/// Score of the best hit of a corrected query, as a share of the lowest exact score (before both are mapped to 0 to 1).
const BELOW_EXACT: f64 = 0.99;

/// Score from which on hits count as equally good. No two scores above it differ in print.
const MOST_RAISED: f64 = 0.9999;

/// Returns the factor that lowers the hits of a corrected query below every exact hit, at most 1. `best` is the best score of the
/// corrected query, and `lowest_exact` the lowest score of an exact hit, if there are any.
pub fn correction_factor(lowest_exact: Option<f64>, best: f64) -> f64 {
    match lowest_exact {
        Some(lowest) if best > 0.0 => (BELOW_EXACT * unbound_score(lowest) / unbound_score(best)).min(1.0),
        _ => 1.0,
    }
}

/// Returns the factor that raises the hits of a corrected query above every other hit, at least 1. `lowest` is the lowest score of
/// the raised hits, and `best` the best score of the others.
pub(crate) fn raising_factor(lowest: f64, best: f64) -> f64 {
    // The score 1 is infinite before it is mapped.
    let [lowest, best] = [lowest, best].map(|score| unbound_score(score.min(MOST_RAISED)));
    if lowest > 0.0 { (best / (BELOW_EXACT * lowest)).max(1.0) } else { 1.0 }
}

/// Returns the score before [`RankedCandidate::bound_score`], given the score after it.
fn unbound_score(score: f64) -> f64 {
    -(-score).ln_1p()
}

/// Applies the factor of [`correction_factor`] or [`raising_factor`] to a hit whose score has been mapped by [`RankedCandidate::bound_score`].
pub(crate) fn apply_correction<C>(ranked: &mut RankedCandidate<C>, factor: f64) {
    let product = unbound_score(ranked.score);
    ranked.score = -(-product * factor).exp_m1();
    if (factor - 1.0).abs() > 0.0 {
        ranked.factors.push(("corrected", factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_hits_come_first() {
        for (lowest, best) in [(0.1, 0.9), (0.9, 0.1), (0.5, 0.5), (0.001, 0.999), (0.9, 0.9999), (0.2, 1.0)]
        {
            let mut ranked = RankedCandidate {
                candidate: (),
                score: lowest,
                fused: lowest,
                factors: Vec::new(),
                disabled_factors: Default::default(),
            };
            apply_correction(&mut ranked, raising_factor(lowest, best));
            assert!(
                ranked.score > best.min(MOST_RAISED) && ranked.score <= 1.0,
                "{lowest} {best}: {}",
                ranked.score
            );
        }
        assert!((raising_factor(0.0, 0.5) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn corrected_hits_stay_below_exact_ones() {
        for (lowest, best) in [(0.1, 0.9), (0.9, 0.1), (0.5, 0.5), (0.001, 0.999)] {
            let mut ranked = RankedCandidate {
                candidate: (),
                score: best,
                fused: best,
                factors: Vec::new(),
                disabled_factors: Default::default(),
            };
            apply_correction(&mut ranked, correction_factor(Some(lowest), best));
            assert!(ranked.score < lowest && ranked.score > 0.0, "{lowest} {best}: {}", ranked.score);
        }
        assert!((correction_factor(None, 0.5) - 1.0).abs() < 1e-9);
    }
}
