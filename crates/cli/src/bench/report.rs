//! Sums up what sets scored, for each arm, and what each left-out part was worth.

use std::collections::BTreeMap;

use memod_base::types::RankingPart;
use memod_proto::Mode;
use serde::Serialize;

use super::asked_definitions::{self, DefinitionFigures};
use super::asking::{Answers, Arm, Measured};
use super::bootstrap::{Estimate, estimates};
use super::scores::{METRICS, Scores};

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
    /// Number of questions that nothing answers; they are not asked.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) absent: usize,
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
    /// How early the definitions that answer come, where questions name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) definitions: Option<DefinitionReport>,
    /// As `difference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) definitions_difference: Option<DefinitionReport>,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

/// Figures of definitions by path and lines.
#[derive(Debug, Serialize)]
pub(super) struct DefinitionReport {
    /// Number of questions that name definitions.
    pub(super) questions: usize,
    /// Of the first answer alone.
    pub(super) first: Figures,
    /// Of all answers that must be read.
    pub(super) must: Figures,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
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
            absent: set.n_absent,
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
        let whole = whole(arm).filter(|whole| *whole != nth);
        let scores: Vec<Vec<Scores>> = of_sets(nth).map(|answers| answers.scores.clone()).collect();
        let definitions: Vec<_> = of_sets(nth).map(|answers| answers.definitions.clone()).collect();
        let pairs = |whole| of_sets(nth).zip(of_sets(whole));
        let differences = whole.map(|whole| pairs(whole).map(differences).collect::<Vec<_>>());
        let of_definitions = whole.and_then(|whole| {
            definition_report(&pairs(whole).map(definition_differences).collect::<Vec<_>>())
        });
        let mut times: Vec<f64> = of_sets(nth).flat_map(|answers| answers.times_ms.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        ArmReport {
            mode: arm.mode,
            without: arm.without,
            questions: times.len(),
            scores: figures(&METRICS, &scores),
            difference: differences.map(|differences| figures(&METRICS, &differences)),
            definitions: definition_report(&definitions),
            definitions_difference: of_definitions,
            p50_ms: percentile(&times, 50),
            p99_ms: percentile(&times, 99),
        }
    };
    arms.iter().enumerate().map(report).collect()
}

fn differences((part, whole): (&Answers, &Answers)) -> Vec<Scores> {
    part.scores.iter().zip(&whole.scores).map(|(part, whole)| difference(part, whole)).collect()
}

fn definition_differences((part, whole): (&Answers, &Answers)) -> Vec<DefinitionFigures> {
    let difference = |(part, whole): (&DefinitionFigures, &DefinitionFigures)| DefinitionFigures {
        first: difference(&part.first, &whole.first),
        must: difference(&part.must, &whole.must),
    };
    part.definitions.iter().zip(&whole.definitions).map(difference).collect()
}

fn difference<const K: usize>(part: &[f64; K], whole: &[f64; K]) -> [f64; K] {
    std::array::from_fn(|nth| part[nth] - whole[nth])
}

/// Returns the figures of the definitions of all sets together, if any question names some.
fn definition_report(sets: &[Vec<DefinitionFigures>]) -> Option<DefinitionReport> {
    let questions = sets.iter().map(Vec::len).sum();
    let of = |part: fn(&DefinitionFigures) -> asked_definitions::DefinitionScores| {
        let sets: Vec<Vec<_>> = sets.iter().map(|set| set.iter().map(part).collect()).collect();
        figures(&asked_definitions::METRICS, &sets)
    };
    (questions > 0).then(|| DefinitionReport {
        questions,
        first: of(|figures| figures.first),
        must: of(|figures| figures.must),
    })
}

fn figures<const K: usize>(metrics: &[(&'static str, &'static str); K], sets: &[Vec<[f64; K]>]) -> Figures {
    metrics.iter().map(|(_, key)| *key).zip(estimates(sets)).collect()
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
            scores: values.iter().map(|value| [*value; METRICS.len()]).collect(),
            definitions: values.iter().map(|value| definition_figures(*value)).collect(),
            times_ms: values.iter().map(|value| value * 10.0).collect(),
        };
        let (suite, root, missing) = ("suite".to_owned(), "/r".to_owned(), Vec::new());
        let arms = arms.iter().map(answers).collect();
        Measured { name: name.to_owned(), suite, root, missing, n_absent: 2, indexed_ms: 1, arms }
    }

    fn definition_figures(value: f64) -> DefinitionFigures {
        DefinitionFigures { first: [value; 4], must: [value / 2.0; 4] }
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
        let definitions = hybrid.definitions.as_ref().expect("questions name some");
        let means = [&definitions.first, &definitions.must].map(|figures| figures["recall_100"].mean);
        assert_eq!((definitions.questions, means), (3, [0.875, 0.4375]));
        let difference = without.definitions_difference.as_ref().expect("it has a whole");
        assert_eq!(difference.must["mrr_100"].mean, -0.125);
        assert_eq!(report.sets[0].absent, 2);
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
