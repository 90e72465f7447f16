//! Holds the signals and factors behind a candidate's score.

use memod_base::types::RankingParts;

/// A reason to raise or lower a score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreFactor {
    pub(crate) name: &'static str,
    /// Factor at full strength.
    pub(crate) at_full: f64,
}

impl ScoreFactor {
    pub(crate) const fn new(name: &'static str, at_full: f64) -> Self {
        Self { name, at_full }
    }

    /// Returns the factor at a strength.
    pub(crate) fn at_strength(self, strength: f64) -> f64 {
        1.0 + strength * (self.at_full - 1.0)
    }
}

/// A candidate with its final score.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedCandidate<C> {
    /// The candidate.
    pub candidate: C,
    /// 0 to 1, larger is better.
    pub score: f64,
    /// Score of the arms alone, 0 to 1.
    pub fused: f64,
    /// Factors by name, without those of 1.
    pub factors: Vec<(&'static str, f64)>,
    /// Factors that do not apply, because the caller leaves them out.
    pub(crate) without: RankingParts,
}

impl<C> RankedCandidate<C> {
    /// Assigns each candidate its fused score, `[n_candidates]`.
    pub(crate) fn with_scores(candidates: Vec<C>, fused: Vec<f64>) -> Vec<Self> {
        candidates
            .into_iter()
            .zip(fused)
            .map(|(candidate, fused)| Self {
                candidate,
                score: fused,
                fused,
                factors: Vec::new(),
                without: RankingParts::default(),
            })
            .collect()
    }

    /// Keeps the order of candidates that no arm compared with the query.
    pub(crate) fn unranked(candidates: Vec<C>) -> Vec<Self> {
        let scores = vec![0.0; candidates.len()];
        Self::with_scores(candidates, scores)
    }

    /// Multiplies the score, and records the factor, unless it is left out.
    pub(crate) fn apply_factor(&mut self, name: &'static str, times: f64) {
        if (times - 1.0).abs() > 1e-9 && !self.without.has(name) {
            self.score *= times;
            self.factors.push((name, times));
        }
    }

    /// Applies a factor at a strength between 0 and 1.
    pub(crate) fn apply_at_strength(&mut self, factor: ScoreFactor, strength: f64) {
        self.apply_factor(factor.name, factor.at_strength(strength));
    }

    /// Maps a score from 0 upwards into the range 0 to 1, keeping the order.
    pub(crate) fn bound_score(&mut self) {
        self.score = -(-self.score).exp_m1();
    }
}
