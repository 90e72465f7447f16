//! Prints what sets scored as tables.

use std::collections::BTreeMap;

use super::bootstrap::Estimate;
use super::report::{ArmReport, Figures, Report};
use super::scores::METRICS;
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::text::{count, escape, paint};

/// Prints scores in percent with their intervals; then what each left-out part changes in all sets together.
pub(super) fn print(report: &Report, output: &mut Output) -> Result<(), CliError> {
    let sets = report.sets.iter().map(|set| (escape(&set.set), set.arms.as_slice()));
    let mean = (format!("mean of {}", report.sets.len()), report.mean.as_slice());
    let metrics = METRICS.map(|(name, _)| name);
    let head = ["", "mode", "questions"].into_iter().chain(metrics).chain(["p50 ms", "p99 ms"]);
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).collect()];
    for (name, arms) in sets.chain([mean]) {
        rows.extend(arms.iter().filter(|arm| arm.without.is_none()).map(|arm| whole(&name, arm)));
    }
    table(&rows, 2, output)?;
    print_differences(report, output)
}

/// Prints what each left-out part changes, and which change nothing.
fn print_differences(report: &Report, output: &mut Output) -> Result<(), CliError> {
    let mut unchanged: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut rows = Vec::new();
    for arm in report.overall() {
        let (Some(part), Some(difference)) = (arm.without, &arm.difference) else { continue };
        match difference.values().all(|estimate| *estimate == Estimate::default()) {
            true => unchanged.entry(arm.mode.as_str()).or_default().push(part.as_str()),
            false => {
                let name = format!("{} without {}", arm.mode.as_str(), part.as_str());
                rows.push([vec![name], cells(difference, |estimate| signed(*estimate))].concat());
            }
        }
    }
    if !rows.is_empty() {
        let head = ["difference to the whole"].into_iter().chain(METRICS.map(|(name, _)| name));
        rows.insert(0, head.map(str::to_owned).collect());
        output.line("")?;
        table(&rows, 1, output)?;
    }
    for (mode, parts) in unchanged {
        output.line(&format!("\n{mode}: no question changes without {}", parts.join(", ")))?;
    }
    Ok(())
}

fn whole(name: &str, arm: &ArmReport) -> Vec<String> {
    let questions = arm.questions.to_string();
    let times = [arm.p50_ms, arm.p99_ms].map(|ms| format!("{ms:.1}"));
    let start = vec![name.to_owned(), arm.mode.as_str().to_owned(), questions];
    let plain = |estimate: &Estimate| {
        let Estimate { mean, low, high } = percent(*estimate);
        format!("{mean:5.1} [{low:5.1} {high:5.1}]")
    };
    [start, cells(&arm.scores, plain), times.to_vec()].concat()
}

fn cells(figures: &Figures, show: impl Fn(&Estimate) -> String) -> Vec<String> {
    METRICS.iter().map(|(_, key)| figures.get(key).map(&show).unwrap_or_default()).collect()
}

/// Shows a difference, with a mark if its interval excludes 0.
fn signed(estimate: Estimate) -> String {
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
