//! Prints what sets scored as tables.

use std::collections::BTreeMap;

use super::asked_definitions;
use super::bootstrap::Estimate;
use super::report::{ArmReport, DefinitionReport, Figures, Report};
use super::scores::METRICS;
use crate::error::CliError;
use crate::output::Output;
use crate::text::{count, escape, paint};

/// Name in a table and in JSON of each metric that it has.
type Metrics = [(&'static str, &'static str)];

/// Prints scores in percent with their intervals; then what each left-out part changes in all sets together.
pub(super) fn print(report: &Report, output: &mut Output) -> Result<(), CliError> {
    let mut rows = vec![build_head(&["", "mode", "questions"], &METRICS, &["p50 ms", "p99 ms"])];
    for (name, arm) in whole_arms(report) {
        rows.push(whole(&name, arm));
    }
    table(&rows, 2, output)?;
    print_definitions(report, output)?;
    print_differences(report, output)
}

/// Returns the arms from which nothing is left out with the names of their sets, those of the mean last.
fn whole_arms(report: &Report) -> impl Iterator<Item = (String, &ArmReport)> {
    let sets = report.sets.iter().map(|set| (escape(&set.set), set.arms.as_slice()));
    let mean = (format!("mean of {}", report.sets.len()), report.mean.as_slice());
    let arms = sets.chain([mean]).flat_map(|(name, arms)| arms.iter().map(move |arm| (name.clone(), arm)));
    arms.filter(|(_, arm)| arm.without.is_none())
}

/// Prints how early the definitions come, where questions name them, and how many questions nothing answers.
fn print_definitions(report: &Report, output: &mut Output) -> Result<(), CliError> {
    let mut rows =
        vec![build_head(&["definitions", "mode", "answer", "questions"], &asked_definitions::METRICS, &[])];
    for (name, arm) in whole_arms(report) {
        for (answer, questions, figures) in arm.definitions.iter().flat_map(figures_by_answer) {
            let start = [name.as_str(), arm.mode.as_str(), answer, &questions.to_string()].map(str::to_owned);
            rows.push(
                [start.to_vec(), format_cells(&asked_definitions::METRICS, figures, format_mean)].concat(),
            );
        }
    }
    if rows.len() > 1 {
        output.line("")?;
        table(&rows, 3, output)?;
    }
    let n_absent: usize = report.sets.iter().map(|set| set.absent).sum();
    if n_absent > 0 {
        let absent = count(
            n_absent as u64,
            "question that nothing answers was",
            "questions that nothing answers were",
        );
        output.line(&format!("\n{absent} not asked"))?;
    }
    Ok(())
}

fn figures_by_answer(report: &DefinitionReport) -> [(&'static str, usize, &Figures); 2] {
    [("first", report.questions, &report.first), ("must read", report.questions, &report.must)]
}

/// Prints what each left-out part changes, and which change nothing.
fn print_differences(report: &Report, output: &mut Output) -> Result<(), CliError> {
    let mut unchanged: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut rows = vec![build_head(&["difference to the whole"], &METRICS, &[])];
    let mut of_definitions =
        vec![build_head(&["difference of definitions", "answer"], &asked_definitions::METRICS, &[])];
    for arm in report.overall() {
        let (Some(part), Some(difference)) = (arm.without, &arm.difference) else { continue };
        let name = format!("{} without {}", arm.mode.as_str(), part.as_str());
        let definitions: Vec<_> = arm.definitions_difference.iter().flat_map(figures_by_answer).collect();
        if is_nothing(difference) && definitions.iter().all(|(_, _, figures)| is_nothing(figures)) {
            unchanged.entry(arm.mode.as_str()).or_default().push(part.as_str());
            continue;
        }
        for (answer, _, figures) in definitions {
            let start = vec![name.clone(), answer.to_owned()];
            of_definitions.push(
                [start, format_cells(&asked_definitions::METRICS, figures, format_difference)].concat(),
            );
        }
        rows.push([vec![name], format_cells(&METRICS, difference, format_difference)].concat());
    }
    for (rows, n_left) in [(rows, 1), (of_definitions, 2)].into_iter().filter(|(rows, _)| rows.len() > 1) {
        output.line("")?;
        table(&rows, n_left, output)?;
    }
    for (mode, parts) in unchanged {
        output.line(&format!("\n{mode}: no question changes without {}", parts.join(", ")))?;
    }
    Ok(())
}

fn is_nothing(difference: &Figures) -> bool {
    difference.values().all(|estimate| *estimate == Estimate::default())
}

fn build_head(start: &[&str], metrics: &Metrics, end: &[&str]) -> Vec<String> {
    let names: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
    [start, &names, end].concat().into_iter().map(str::to_owned).collect()
}

fn whole(name: &str, arm: &ArmReport) -> Vec<String> {
    let questions = arm.questions.to_string();
    let times = [arm.p50_ms, arm.p99_ms].map(|ms| format!("{ms:.1}"));
    let start = vec![name.to_owned(), arm.mode.as_str().to_owned(), questions];
    [start, format_cells(&METRICS, &arm.scores, format_mean), times.to_vec()].concat()
}

fn format_cells(metrics: &Metrics, figures: &Figures, show: impl Fn(Estimate) -> String) -> Vec<String> {
    metrics.iter().map(|(_, key)| figures.get(key).copied().map(&show).unwrap_or_default()).collect()
}

fn format_mean(estimate: Estimate) -> String {
    let Estimate { mean, low, high } = percent(estimate);
    format!("{mean:5.1} [{low:5.1} {high:5.1}]")
}

/// Shows a difference, with a mark if its interval excludes 0.
fn format_difference(estimate: Estimate) -> String {
    let Estimate { mean, low, high } = percent(estimate);
    let mark = if estimate.is_clear() { '*' } else { ' ' };
    format!("{mean:+5.1} [{low:+5.1} {high:+5.1}]{mark}")
}

fn percent(Estimate { mean, low, high }: Estimate) -> Estimate {
    Estimate { mean: 100.0 * mean, low: 100.0 * low, high: 100.0 * high }
}

/// Writes rows with aligned columns: the first `n_left` to the left, numbers to the right. The first row is the head.
fn table(rows: &[Vec<String>], n_left: usize, output: &mut Output) -> Result<(), CliError> {
    let n_columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for (nth, row) in rows.iter().enumerate() {
        let cells =
            row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column < n_left {
                true => format!("{cell:width$}"),
                false => format!("{cell:>width$}"),
            });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        output.line(&if nth == 0 { paint(output.styles.title, line) } else { line.to_owned() })?;
    }
    Ok(())
}

/// Returns a sentence on the answers that are not in the tree.
pub(super) fn missing_warning(set: &str, missing: &[String]) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let named = missing.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if missing.len() > MOST_NAMED { ", …" } else { "" };
    let n_missing = count(missing.len() as u64, "answer is", "answers are");
    (!missing.is_empty())
        .then(|| format!("{set}: {n_missing} not in the tree and counted as missed: {named}{more}"))
}
