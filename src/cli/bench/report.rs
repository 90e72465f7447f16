//! Sums up what sets scored, for each arm, and what each left-out part was worth.

use std::collections::BTreeMap;

use serde::Serialize;

use super::asking::{Answers, Arm, Measured};
use super::bootstrap::{Estimate, estimates};
use super::scores::{METRICS, N_METRICS, Scores};
use crate::proto::Mode;
use crate::types::RankingPart;

/// All figures; scores are 0 to 1.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) sets: Vec<SetReport>,
    /// The means over the sets, if there are several: each weighs the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) mean: Vec<ArmReport>,
    /// Sets that could not be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) failed: Vec<Failed>,
}

#[derive(Debug, Serialize)]
pub(super) struct SetReport {
    pub(super) set: String,
    pub(super) suite: String,
    pub(super) root: String,
    /// Answers that are not in the tree; they count as missed.
    pub(super) missing: Vec<String>,
    pub(super) indexed_ms: u64,
    pub(super) arms: Vec<ArmReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct ArmReport {
    pub(super) mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) without: Option<RankingPart>,
    pub(super) questions: usize,
    pub(super) scores: Figures,
    /// With the part left out minus the whole, of the same questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) difference: Option<Figures>,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

/// An estimate of each metric, by its name in JSON.
pub(super) type Figures = BTreeMap<&'static str, Estimate>;

#[derive(Debug, Serialize)]
pub(super) struct Failed {
    pub(super) set: String,
    pub(super) error: String,
}

impl Report {
    pub(super) fn of(arms: &[Arm], measured: Vec<Measured>, failed: Vec<Failed>) -> Self {
        let mean =
            if measured.len() > 1 { reports(arms, &measured.iter().collect::<Vec<_>>()) } else { Vec::new() };
        let sets = measured.into_iter().map(|set| SetReport {
            arms: reports(arms, &[&set]),
            set: set.name,
            suite: set.suite,
            root: set.root,
            missing: set.missing,
            indexed_ms: set.indexed_ms,
        });
        Self { sets: sets.collect(), mean, failed }
    }

    /// Returns the arms of all sets together.
    pub(super) fn overall(&self) -> &[ArmReport] {
        match self.sets.first() {
            Some(set) if self.mean.is_empty() => &set.arms,
            _ => &self.mean,
        }
    }
}

fn reports(arms: &[Arm], sets: &[&Measured]) -> Vec<ArmReport> {
    let whole = |arm: &Arm| arms.iter().position(|other| *other == Arm { without: None, ..*arm });
    let report = |(nth, arm): (usize, &Arm)| {
        let of_sets = |nth: usize| sets.iter().map(move |set| &set.arms[nth]);
        let scores: Vec<Vec<Scores>> = of_sets(nth).map(|answers| answers.scores.clone()).collect();
        let whole = whole(arm).filter(|whole| *whole != nth);
        let differences =
            whole.map(|whole| of_sets(nth).zip(of_sets(whole)).map(differences).collect::<Vec<_>>());
        let mut times: Vec<f64> = of_sets(nth).flat_map(|answers| answers.times_ms.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        ArmReport {
            mode: arm.mode,
            without: arm.without,
            questions: times.len(),
            scores: figures(&scores),
            difference: differences.map(|differences| figures(&differences)),
            p50_ms: percentile(&times, 50),
            p99_ms: percentile(&times, 99),
        }
    };
    arms.iter().enumerate().map(report).collect()
}

fn differences((part, whole): (&Answers, &Answers)) -> Vec<Scores> {
    let difference = |(part, whole): (&Scores, &Scores)| std::array::from_fn(|nth| part[nth] - whole[nth]);
    part.scores.iter().zip(&whole.scores).map(difference).collect()
}

fn figures(sets: &[Vec<Scores>]) -> Figures {
    let found: [Estimate; N_METRICS] = estimates(sets);
    METRICS.iter().map(|(_, key)| *key).zip(found).collect()
}

/// Returns the nearest rank of a percentile; 0 of nothing.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, arms: &[&[f64]]) -> Measured {
        let answers = |values: &&[f64]| Answers {
            scores: values.iter().map(|value| [*value; N_METRICS]).collect(),
            times_ms: values.iter().map(|value| value * 10.0).collect(),
        };
        let (suite, root, missing) = ("suite".to_owned(), "/r".to_owned(), Vec::new());
        let arms = arms.iter().map(answers).collect();
        Measured { name: name.to_owned(), suite, root, missing, indexed_ms: 1, arms }
    }

    #[test]
    fn what_is_left_out_is_compared_with_the_whole_question_by_question() {
        let part = RankingPart::parse("path").ok();
        let arm = |mode, without| Arm { mode, without };
        let arms = [arm(Mode::Keyword, None), arm(Mode::Hybrid, None), arm(Mode::Hybrid, part)];
        let one = set("one", &[&[0.0, 0.0], &[1.0, 0.5], &[0.5, 0.0]]);
        let other = set("other", &[&[0.0], &[1.0], &[1.0]]);
        let report = Report::of(&arms, vec![one, other], Vec::new());
        let [keyword, hybrid, without] = report.overall() else { panic!("three arms: {report:?}") };
        assert_eq!((hybrid.questions, hybrid.scores["ndcg_10"].mean), (3, 0.875));
        assert!(keyword.difference.is_none() && hybrid.difference.is_none());
        let difference = without.difference.as_ref().expect("it has a whole")["ndcg_10"];
        assert_eq!((difference.mean, difference.low, difference.high), (-0.25, -0.25, -0.25));
        assert_eq!((hybrid.p50_ms, hybrid.p99_ms), (10.0, 10.0));
        assert_eq!(report.sets[0].arms[1].scores["mrr_10"].mean, 0.75);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 99)), (100.0, 198.0));
        assert_eq!((percentile(&values[..1], 99), percentile(&[], 50)), (1.0, 0.0));
    }
}
