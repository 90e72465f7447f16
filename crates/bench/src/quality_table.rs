//! Prints the scores of sets as tables.

use std::collections::BTreeMap;

use memod_terminal::text::{escape_for_display, format_count, paint};
use memod_terminal::{CliError, Output};

use crate::asked_definitions::DEFINITION_METRICS;
use crate::bootstrap_means::MeanEstimate;
use crate::quality_report::{ArmReport, DefinitionReport, MetricEstimates, QualityReport};
use crate::rank_scores::RANK_METRICS;

/// The name of each metric in a table and in JSON.
type Metrics = [(&'static str, &'static str)];

/// Prints scores in percent with their intervals, and then for each left-out part the difference over all sets.
pub(crate) fn print_report(report: &QualityReport, output: &mut Output) -> Result<(), CliError> {
    let mut rows = vec![build_head(&["", "mode", "questions"], &RANK_METRICS, &["p50 ms", "p99 ms"])];
    for (name, arm) in arms_with_whole_ranking(report) {
        rows.push(build_row(&name, arm));
    }
    print_table(&rows, 2, output)?;
    print_definitions(report, output)?;
    print_differences(report, output)
}

/// Returns the arms with the whole ranking, each with the name of its set; the means come last.
fn arms_with_whole_ranking(report: &QualityReport) -> impl Iterator<Item = (String, &ArmReport)> {
    let sets = report.sets.iter().map(|set| (escape_for_display(&set.set), set.arms.as_slice()));
    let mean = (format!("mean of {}", report.sets.len()), report.mean.as_slice());
    let arms = sets.chain([mean]).flat_map(|(name, arms)| arms.iter().map(move |arm| (name.clone(), arm)));
    arms.filter(|(_, arm)| arm.without.is_none())
}

/// Prints the figures for definitions, if questions name some, and the number of questions without an answer.
fn print_definitions(report: &QualityReport, output: &mut Output) -> Result<(), CliError> {
    let mut rows =
        vec![build_head(&["definitions", "mode", "answer", "questions"], &DEFINITION_METRICS, &[])];
    for (name, arm) in arms_with_whole_ranking(report) {
        for (answer, questions, figures) in arm.definitions.iter().flat_map(figures_by_answer) {
            let start = [name.as_str(), arm.mode.as_str(), answer, &questions.to_string()].map(str::to_owned);
            rows.push([start.to_vec(), format_cells(&DEFINITION_METRICS, figures, format_mean)].concat());
        }
    }
    if rows.len() > 1 {
        output.write_line("")?;
        print_table(&rows, 3, output)?;
    }
    let n_absent: usize = report.sets.iter().map(|set| set.absent).sum();
    if n_absent > 0 {
        let absent = format_count(
            n_absent as u64,
            "question without an answer was",
            "questions without an answer were",
        );
        output.write_line(&format!("\n{absent} not asked"))?;
    }
    Ok(())
}

fn figures_by_answer(report: &DefinitionReport) -> [(&'static str, usize, &MetricEstimates); 2] {
    [("first", report.questions, &report.first), ("must read", report.questions, &report.must)]
}

/// Prints the difference for each left-out part, and the names of the parts without a difference.
fn print_differences(report: &QualityReport, output: &mut Output) -> Result<(), CliError> {
    let mut unchanged: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut rows = vec![build_head(&["difference to the whole"], &RANK_METRICS, &[])];
    let mut definition_rows =
        vec![build_head(&["difference of definitions", "answer"], &DEFINITION_METRICS, &[])];
    for arm in report.overall_arms() {
        let (Some(part), Some(difference)) = (arm.without, &arm.difference) else { continue };
        let name = format!("{} without {}", arm.mode.as_str(), part.as_str());
        let definitions: Vec<_> = arm.definitions_difference.iter().flat_map(figures_by_answer).collect();
        if is_zero_difference(difference)
            && definitions.iter().all(|(_, _, figures)| is_zero_difference(figures))
        {
            unchanged.entry(arm.mode.as_str()).or_default().push(part.as_str());
            continue;
        }
        for (answer, _, figures) in definitions {
            let start = vec![name.clone(), answer.to_owned()];
            definition_rows
                .push([start, format_cells(&DEFINITION_METRICS, figures, format_difference)].concat());
        }
        rows.push([vec![name], format_cells(&RANK_METRICS, difference, format_difference)].concat());
    }
    for (rows, n_left_aligned) in
        [(rows, 1), (definition_rows, 2)].into_iter().filter(|(rows, _)| rows.len() > 1)
    {
        output.write_line("")?;
        print_table(&rows, n_left_aligned, output)?;
    }
    for (mode, parts) in unchanged {
        output.write_line(&format!("\n{mode}: no question changes without {}", parts.join(", ")))?;
    }
    Ok(())
}

fn is_zero_difference(difference: &MetricEstimates) -> bool {
    difference.values().all(|estimate| *estimate == MeanEstimate::default())
}

fn build_head(start: &[&str], metrics: &Metrics, end: &[&str]) -> Vec<String> {
    let names: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
    [start, &names, end].concat().into_iter().map(str::to_owned).collect()
}

fn build_row(name: &str, arm: &ArmReport) -> Vec<String> {
    let questions = arm.questions.to_string();
    let times = [arm.p50_ms, arm.p99_ms].map(|ms| format!("{ms:.1}"));
    let start = vec![name.to_owned(), arm.mode.as_str().to_owned(), questions];
    [start, format_cells(&RANK_METRICS, &arm.scores, format_mean), times.to_vec()].concat()
}

fn format_cells(
    metrics: &Metrics,
    figures: &MetricEstimates,
    show: impl Fn(MeanEstimate) -> String,
) -> Vec<String> {
    metrics.iter().map(|(_, key)| figures.get(key).copied().map(&show).unwrap_or_default()).collect()
}

fn format_mean(estimate: MeanEstimate) -> String {
    let MeanEstimate { mean, low, high } = to_percent(estimate);
    format!("{mean:5.1} [{low:5.1} {high:5.1}]")
}

/// Formats a difference, with `*` after it if its interval excludes 0.
fn format_difference(estimate: MeanEstimate) -> String {
    let MeanEstimate { mean, low, high } = to_percent(estimate);
    let mark = if estimate.is_significant() { '*' } else { ' ' };
    format!("{mean:+5.1} [{low:+5.1} {high:+5.1}]{mark}")
}

fn to_percent(MeanEstimate { mean, low, high }: MeanEstimate) -> MeanEstimate {
    MeanEstimate { mean: 100.0 * mean, low: 100.0 * low, high: 100.0 * high }
}

/// Prints rows with aligned columns: the first `n_left_aligned` to the left, the others to the right. The first row is the head.
fn print_table(rows: &[Vec<String>], n_left_aligned: usize, output: &mut Output) -> Result<(), CliError> {
    let n_columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    for (nth, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            match column < n_left_aligned {
                true => format!("{cell:width$}"),
                false => format!("{cell:>width$}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        output.write_line(&if nth == 0 { paint(output.styles.title, line) } else { line.to_owned() })?;
    }
    Ok(())
}

/// Returns a warning about answers that are not in the worktree; `None` if there are none.
pub(crate) fn missing_warning(set: &str, missing: &[String]) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let named = missing.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if missing.len() > MAX_NAMED { ", …" } else { "" };
    let n_missing = format_count(missing.len() as u64, "answer is", "answers are");
    (!missing.is_empty())
        .then(|| format!("{set}: {n_missing} not in the tree and counted as missed: {named}{more}"))
}
