//! Declares a candidate with its score, and the factors that make the score.

use memod_base::types::RankingParts;

/// A factor that raises or lowers a score for a reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreFactor {
    pub(crate) name: &'static str,
    /// The factor at strength 1.
    pub(crate) at_full: f64,
}

impl ScoreFactor {
    pub(crate) const fn new(name: &'static str, at_full: f64) -> Self {
        Self { name, at_full }
    }

    /// Returns the factor at a strength: 1 at strength 0, `at_full` at strength 1, linear in between.
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
    /// The factors that were applied, by name. Factors of 1 are left out.
    pub factors: Vec<(&'static str, f64)>,
    /// Names of factors that are not applied, because the request excludes them.
    pub(crate) disabled_factors: RankingParts,
}

impl<C> RankedCandidate<C> {
    /// Gives each candidate its fused score (`[n_candidates]`), without factors.
    pub(crate) fn with_scores(candidates: Vec<C>, fused: Vec<f64>) -> Vec<Self> {
        candidates
            .into_iter()
            .zip(fused)
            .map(|(candidate, fused)| Self {
                candidate,
                score: fused,
                fused,
                factors: Vec::new(),
                disabled_factors: RankingParts::default(),
            })
            .collect()
    }

    /// Gives all candidates the score 0, in their order, for candidates that no arm has compared with the query.
    pub(crate) fn unranked(candidates: Vec<C>) -> Vec<Self> {
        let scores = vec![0.0; candidates.len()];
        Self::with_scores(candidates, scores)
    }

    /// Multiplies the score by a factor and records the factor, unless the request excludes it.
    pub(crate) fn apply_factor(&mut self, name: &'static str, times: f64) {
        if (times - 1.0).abs() > 1e-9 && !self.disabled_factors.contains_name(name) {
            self.score *= times;
            self.factors.push((name, times));
        }
    }

    /// Applies a factor at a strength between 0 and 1.
    pub(crate) fn apply_at_strength(&mut self, factor: ScoreFactor, strength: f64) {
        self.apply_factor(factor.name, factor.at_strength(strength));
    }

    /// Maps the score, which may be any number from 0 upwards, into the range 0 to 1. The order of scores stays.
    pub(crate) fn bound_score(&mut self) {
        self.score = -(-self.score).exp_m1();
    }
}
