//! Aggregates the scores of sets for each arm, and the differences between the arms and the whole ranking.

use std::collections::BTreeMap;

use memod_base::types::RankingPart;
use memod_proto::SearchMode;
use serde::Serialize;

use crate::asked_definitions::{DEFINITION_METRICS, DefinitionFigures, DefinitionScores};
use crate::bench_arm::BenchArm;
use crate::bootstrap_means::{MeanEstimate, estimate_means};
use crate::question_runner::{ArmAnswers, SetMeasurement};
use crate::rank_scores::{RANK_METRICS, RankScores};

/// All figures of a run; scores are 0 to 1.
#[derive(Debug, Serialize)]
pub(crate) struct QualityReport {
    pub(crate) sets: Vec<SetReport>,
    /// The means over the sets, if there are several; each set has the same weight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) mean: Vec<ArmReport>,
    /// Sets that could not be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed: Vec<FailedSet>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SetReport {
    pub(crate) set: String,
    pub(crate) suite: String,
    pub(crate) root: String,
    /// Answers that are not in the worktree; they count as missed.
    pub(crate) missing: Vec<String>,
    /// Number of questions without an answer, which are not asked.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) absent: usize,
    pub(crate) indexed_ms: u64,
    pub(crate) arms: Vec<ArmReport>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ArmReport {
    pub(crate) mode: SearchMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) without: Option<RankingPart>,
    pub(crate) questions: usize,
    pub(crate) scores: MetricEstimates,
    /// Scores without the part minus scores with the whole ranking, for the same questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<MetricEstimates>,
    /// Figures for definitions, if questions name definitions as answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) definitions: Option<DefinitionReport>,
    /// Like `difference`, for definitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) definitions_difference: Option<DefinitionReport>,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// Figures for the questions that name definitions as answers.
#[derive(Debug, Serialize)]
pub(crate) struct DefinitionReport {
    /// Number of questions that name definitions.
    pub(crate) questions: usize,
    /// Figures of the first answer alone.
    pub(crate) first: MetricEstimates,
    /// Figures of all answers that must be read.
    pub(crate) must: MetricEstimates,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The estimate of each metric, by the name of the metric in JSON.
pub(crate) type MetricEstimates = BTreeMap<&'static str, MeanEstimate>;

/// A set that could not be asked.
#[derive(Debug, Serialize)]
pub(crate) struct FailedSet {
    pub(crate) set: String,
    pub(crate) error: String,
}

impl QualityReport {
    pub(crate) fn from_measurements(
        arms: &[BenchArm],
        measured: Vec<SetMeasurement>,
        failed: Vec<FailedSet>,
    ) -> Self {
        let mean = if measured.len() > 1 {
            build_arm_reports(arms, &measured.iter().collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        let sets = measured.into_iter().map(|set| SetReport {
            arms: build_arm_reports(arms, &[&set]),
            set: set.name,
            suite: set.suite,
            root: set.root,
            missing: set.missing,
            absent: set.n_absent,
            indexed_ms: set.indexed_ms,
        });
        Self { sets: sets.collect(), mean, failed }
    }

    /// Returns the means over all sets, or the arms of the only set.
    pub(crate) fn overall_arms(&self) -> &[ArmReport] {
        match self.sets.first() {
            Some(set) if self.mean.is_empty() => &set.arms,
            _ => &self.mean,
        }
    }
}

fn build_arm_reports(arms: &[BenchArm], sets: &[&SetMeasurement]) -> Vec<ArmReport> {
    (0..arms.len()).map(|nth| build_arm_report(arms, nth, sets)).collect()
}

/// Returns the figures of the arm at index `nth`, with the differences to the arm of the same mode with the whole ranking.
fn build_arm_report(arms: &[BenchArm], nth: usize, sets: &[&SetMeasurement]) -> ArmReport {
    let arm = arms[nth];
    let whole = arms.iter().position(|other| *other == BenchArm { without: None, ..arm });
    let answers: Vec<&ArmAnswers> = sets.iter().map(|set| &set.arms[nth]).collect();
    // For each set, the answers of this arm and the answers of the whole ranking.
    let pairs: Option<Vec<(&ArmAnswers, &ArmAnswers)>> = whole
        .filter(|whole| *whole != nth)
        .map(|whole| sets.iter().map(|set| (&set.arms[nth], &set.arms[whole])).collect());
    let scores: Vec<Vec<RankScores>> = answers.iter().map(|answers| answers.scores.clone()).collect();
    let definitions: Vec<_> = answers.iter().map(|answers| answers.definitions.clone()).collect();
    let differences =
        pairs.as_ref().map(|pairs| pairs.iter().copied().map(score_differences).collect::<Vec<_>>());
    let definitions_difference = pairs.and_then(|pairs| {
        build_definition_report(&pairs.into_iter().map(definition_differences).collect::<Vec<_>>())
    });
    let mut times: Vec<f64> = answers.iter().flat_map(|answers| answers.times_ms.iter().copied()).collect();
    times.sort_by(f64::total_cmp);
    ArmReport {
        mode: arm.mode,
        without: arm.without,
        questions: times.len(),
        scores: estimate_figures(&RANK_METRICS, &scores),
        difference: differences.map(|differences| estimate_figures(&RANK_METRICS, &differences)),
        definitions: build_definition_report(&definitions),
        definitions_difference,
        p50_ms: find_percentile(&times, 50),
        p99_ms: find_percentile(&times, 99),
    }
}

fn score_differences((part, whole): (&ArmAnswers, &ArmAnswers)) -> Vec<RankScores> {
    part.scores.iter().zip(&whole.scores).map(|(part, whole)| subtract_scores(part, whole)).collect()
}

fn definition_differences((part, whole): (&ArmAnswers, &ArmAnswers)) -> Vec<DefinitionFigures> {
    let pairs = part.definitions.iter().zip(&whole.definitions);
    pairs
        .map(|(part, whole)| DefinitionFigures {
            first: subtract_scores(&part.first, &whole.first),
            must: subtract_scores(&part.must, &whole.must),
        })
        .collect()
}

fn subtract_scores<const K: usize>(part: &[f64; K], whole: &[f64; K]) -> [f64; K] {
    std::array::from_fn(|nth| part[nth] - whole[nth])
}

/// Returns the figures for definitions over all sets; `None` if no question names definitions.
fn build_definition_report(sets: &[Vec<DefinitionFigures>]) -> Option<DefinitionReport> {
    let questions = sets.iter().map(Vec::len).sum();
    (questions > 0).then(|| DefinitionReport {
        questions,
        first: estimate_definitions(sets, |figures| figures.first),
        must: estimate_definitions(sets, |figures| figures.must),
    })
}

fn estimate_definitions(
    sets: &[Vec<DefinitionFigures>],
    part: fn(&DefinitionFigures) -> DefinitionScores,
) -> MetricEstimates {
    let sets: Vec<Vec<_>> = sets.iter().map(|set| set.iter().map(part).collect()).collect();
    estimate_figures(&DEFINITION_METRICS, &sets)
}

fn estimate_figures<const K: usize>(
    metrics: &[(&'static str, &'static str); K],
    sets: &[Vec<[f64; K]>],
) -> MetricEstimates {
    metrics.iter().map(|(_, key)| *key).zip(estimate_means(sets)).collect()
}

/// Returns a percentile of sorted values by the nearest-rank method; 0 without values.
fn find_percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, arms: &[&[f64]]) -> SetMeasurement {
        let answers = |values: &&[f64]| ArmAnswers {
            scores: values.iter().map(|value| [*value; RANK_METRICS.len()]).collect(),
            definitions: values.iter().map(|value| definition_figures(*value)).collect(),
            times_ms: values.iter().map(|value| value * 10.0).collect(),
        };
        let (suite, root, missing) = ("suite".to_owned(), "/r".to_owned(), Vec::new());
        let arms = arms.iter().map(answers).collect();
        SetMeasurement { name: name.to_owned(), suite, root, missing, n_absent: 2, indexed_ms: 1, arms }
    }

    fn definition_figures(value: f64) -> DefinitionFigures {
        DefinitionFigures { first: [value; 4], must: [value / 2.0; 4] }
    }

    #[test]
    fn what_is_left_out_is_compared_with_the_whole_question_by_question() {
        let part = RankingPart::parse("path").ok();
        let arm = |mode, without| BenchArm { mode, without };
        let arms =
            [arm(SearchMode::Keyword, None), arm(SearchMode::Hybrid, None), arm(SearchMode::Hybrid, part)];
        let one = set("one", &[&[0.0, 0.0], &[1.0, 0.5], &[0.5, 0.0]]);
        let other = set("other", &[&[0.0], &[1.0], &[1.0]]);
        let report = QualityReport::from_measurements(&arms, vec![one, other], Vec::new());
        let [keyword, hybrid, without] = report.overall_arms() else { panic!("three arms: {report:?}") };
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
        assert_eq!((find_percentile(&values, 50), find_percentile(&values, 99)), (100.0, 198.0));
        assert_eq!((find_percentile(&values[..1], 99), find_percentile(&[], 50)), (1.0, 0.0));
    }
}
