//! Holds the signals and factors behind a candidate's score.

use memod_base::types::RankingParts;

/// A reason to raise or lower a score.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) name: &'static str,
    /// Factor at full strength.
    pub(super) at_full: f64,
}

impl Factor {
    pub(super) const fn new(name: &'static str, at_full: f64) -> Self {
        Self { name, at_full }
    }

    /// Returns the factor at a strength.
    pub(super) fn at(self, strength: f64) -> f64 {
        1.0 + strength * (self.at_full - 1.0)
    }
}

/// A candidate with its final score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<C> {
    /// The candidate.
    pub candidate: C,
    /// 0 to 1, larger is better.
    pub score: f64,
    /// Score of the arms alone, 0 to 1.
    pub fused: f64,
    /// Factors by name, without those of 1.
    pub factors: Vec<(&'static str, f64)>,
    /// Factors that do not apply, because the caller leaves them out.
    pub(super) without: RankingParts,
}

impl<C> Ranked<C> {
    /// Assigns each candidate its fused score, `[n_candidates]`.
    pub(super) fn all(candidates: Vec<C>, fused: Vec<f64>) -> Vec<Self> {
        let ranked = |(candidate, fused)| Self {
            candidate,
            score: fused,
            fused,
            factors: Vec::new(),
            without: RankingParts::default(),
        };
        candidates.into_iter().zip(fused).map(ranked).collect()
    }

    /// Keeps the order of candidates that no arm compared with the query.
    pub(super) fn unranked(candidates: Vec<C>) -> Vec<Self> {
        let scores = vec![0.0; candidates.len()];
        Self::all(candidates, scores)
    }

    /// Multiplies the score, and records the factor, unless it is left out.
    pub(super) fn apply(&mut self, name: &'static str, times: f64) {
        if (times - 1.0).abs() > 1e-9 && !self.without.has(name) {
            self.score *= times;
            self.factors.push((name, times));
        }
    }

    /// Applies a factor at a strength between 0 and 1.
    pub(super) fn apply_at(&mut self, factor: Factor, strength: f64) {
        self.apply(factor.name, factor.at(strength));
    }

    /// Compresses scores above 1 into the range, keeping the order.
    pub(super) fn bound(&mut self) {
        self.score = -(-self.score).exp_m1();
    }
}
