//! Measures how well searches find the known answers to questions.

mod asked_definitions;
mod bench_args;
mod bench_arm;
mod bootstrap_means;
mod candidate_rows;
mod find_tree;
mod label_json;
mod labelled_question;
mod page_headings;
mod quality_report;
mod quality_table;
mod question_runner;
mod question_sets;
mod rank_scores;
mod run_files;
mod write_candidates;

#[cfg(unix)] // on Windows no program is named `python3`
#[cfg(test)]
mod scorer_tests;

use std::path::Path;

use memod_base::types::RankingPart;
use memod_proto::SearchMode;
use memod_terminal::rows::OutputShape;
use memod_terminal::{CliError, CliResult, CommandContext, Output};

pub use bench_args::BenchArgs;
use bench_args::{BenchVerb, QualityArgs};
use bench_arm::BenchArm;
use quality_report::{FailedSet, QualityReport};
use question_runner::{SetMeasurement, measure_in_worktree};
use question_sets::QuestionSet;
use run_files::RunFiles;

/// Runs `memod bench` and returns its exit status.
pub fn run_bench(typed: BenchArgs) -> u8 {
    let BenchArgs { global, what: mut verb } = typed;
    if let Some(dir) = &global.dir {
        verb.resolve_files(dir);
    }
    let mut output = Output::new(&global, OutputShape::for_single_result(global.json));
    let dir = global.dir.as_deref();
    let outcome = match &verb {
        BenchVerb::Quality(typed) => measure_quality(typed, dir, &mut output),
        BenchVerb::Candidates(typed) => write_candidates::write_candidates(typed, dir, &mut output),
    };
    let outcome = outcome.and_then(|exit| output.flush().map(|()| exit));
    outcome.unwrap_or_else(|error| output.report_error(&error, None))
}

/// Asks each set and prints its scores. Warns about a set that cannot be asked, and returns the exit status of its error.
fn measure_quality(typed: &QualityArgs, dir: Option<&Path>, output: &mut Output) -> CliResult {
    let sets = question_sets::read_sets(&typed.sets)?;
    if typed.trees.is_none() && sets.len() > 1 && sets.iter().any(|set| set.has_own_tree) {
        let message = format!("{}: each of its sets needs a worktree of its own", typed.sets.display());
        return Err(CliError::Usage { message, hint: "name the folder with these worktrees: --trees DIR" });
    }
    let arms = build_arms(typed);
    let mut runs = RunFiles::new(typed.runs.clone());
    let (mut measured, mut failed, mut exit) = (Vec::new(), Vec::new(), 0);
    let n_sets = sets.len();
    for set in sets {
        let name = set.name.clone();
        match measure_set(set, typed, &arms, dir, &mut runs, output) {
            Ok(measurement) => {
                if let Some(warning) = quality_table::missing_warning(&name, &measurement.missing) {
                    output.write_warning(&warning);
                }
                measured.push(measurement);
            }
            Err(error) if n_sets == 1 => return Err(error),
            Err(error) => {
                let error_report = error.to_report();
                let hint = error_report.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                output.write_warning(&format!("{name} is left out: {}{hint}", error_report.message));
                failed.push(FailedSet { set: name, error: error_report.message });
                exit = error_report.exit_status.max(exit);
            }
        }
    }
    let report = QualityReport::from_measurements(&arms, measured, failed);
    output.write_full_result(&report, |output| match report.sets.is_empty() {
        true => Ok(()),
        false => quality_table::print_report(&report, output),
    })?;
    Ok(exit)
}

/// Returns for each mode an arm with the whole ranking, and then an arm without each part that is left out.
fn build_arms(typed: &QualityArgs) -> Vec<BenchArm> {
    let parts: Vec<RankingPart> = typed.leave_out.iter().flat_map(|parts| parts.0.iter().copied()).collect();
    let left_out: Vec<Option<RankingPart>> =
        std::iter::once(None).chain(parts.into_iter().map(Some)).collect();
    let mut modes: Vec<SearchMode> = Vec::new();
    for mode in typed.modes.iter().map(|mode| (*mode).into()) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    let arms = modes
        .into_iter()
        .flat_map(|mode| left_out.iter().map(move |without| BenchArm { mode, without: *without }));
    arms.collect()
}

/// Asks a set in its own tree, or in the worktree of the command.
fn measure_set(
    set: QuestionSet,
    typed: &QualityArgs,
    arms: &[BenchArm],
    dir: Option<&Path>,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<SetMeasurement, CliError> {
    runs.discard_old(arms, &set)?;
    match &typed.trees {
        Some(trees) => {
            let context = find_tree::find_worktree_of_set(&set, trees)?;
            measure_in_worktree(set, arms, &context, true, runs, output)
        }
        None => measure_in_worktree(set, arms, &CommandContext::find(dir)?, false, runs, output),
    }
}
