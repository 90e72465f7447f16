//! Holds the signals and factors behind a candidate's score.

/// A reason to raise or lower a score.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) name: &'static str,
    /// What the score is multiplied with at full strength.
    pub(super) at_full: f64,
}

impl Factor {
    pub(super) const fn new(name: &'static str, at_full: f64) -> Self {
        Self { name, at_full }
    }

    /// Returns what the score is multiplied with at a strength.
    pub(super) fn at(self, strength: f64) -> f64 {
        1.0 + strength * (self.at_full - 1.0)
    }
}

/// A candidate with its final score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<C> {
    /// As it came.
    pub candidate: C,
    /// 0 to 1, larger is better.
    pub score: f64,
    /// What the arms alone give, 0 to 1.
    pub fused: f64,
    /// What it was multiplied with, by name, without those of 1.
    pub factors: Vec<(&'static str, f64)>,
}

impl<C> Ranked<C> {
    /// Gives each candidate its fused score, `[n_candidates]`.
    pub(super) fn all(candidates: Vec<C>, fused: Vec<f64>) -> Vec<Self> {
        let ranked = |(candidate, fused)| Self { candidate, score: fused, fused, factors: Vec::new() };
        candidates.into_iter().zip(fused).map(ranked).collect()
    }

    /// Multiplies the score, and notes by what.
    pub(super) fn apply(&mut self, name: &'static str, times: f64) {
        if (times - 1.0).abs() > 1e-9 {
            self.score *= times;
            self.factors.push((name, times));
        }
    }

    /// Applies a factor at a strength, of which 1 is the full one and 0 none.
    pub(super) fn apply_at(&mut self, factor: Factor, strength: f64) {
        self.apply(factor.name, factor.at(strength));
    }

    /// Brings a score that factors have lifted over 1 below it; the order stays.
    pub(super) fn bound(&mut self) {
        self.score = -(-self.score).exp_m1();
    }
}
