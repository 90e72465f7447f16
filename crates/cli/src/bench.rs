//! Measures how well memod answers questions whose answers are known.

mod asked_definitions;
mod asking;
mod bootstrap;
mod candidate_rows;
mod candidates;
mod headings;
mod label_json;
mod labels;
mod quality_table;
mod question_sets;
mod report;
mod run_files;
mod scores;
mod tree;

#[cfg(unix)] // Windows calls no program `python3`
#[cfg(test)]
mod scorer_tests;

use memod_base::types::RankingPart;
use memod_proto::Mode;

use super::args::{BenchArgs, BenchVerb, QualityArgs};
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::output::Output;
use asking::{Arm, Measured, ask};
use question_sets::QuestionSet;
use report::{Failed, Report};
use run_files::RunFiles;

pub(super) fn bench(
    typed: BenchArgs,
    here: impl Fn() -> Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    match typed.what {
        BenchVerb::Quality(typed) => quality(&typed, here, output),
        BenchVerb::Candidates(typed) => candidates::write(&typed, here, output),
    }
}

/// Asks each set and prints what it scored. A set that cannot be asked is left out; the exit status says so.
fn quality(
    typed: &QualityArgs,
    here: impl Fn() -> Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    let sets = question_sets::read(&typed.sets)?;
    if typed.trees.is_none() && sets.len() > 1 && sets.iter().any(|set| set.has_own_tree) {
        let message = format!("{}: its sets are each about a tree of their own", typed.sets.display());
        return Err(CliError::Usage { message, hint: "name the folder of the trees with --trees DIR" });
    }
    let arms = arms(typed);
    let mut runs = RunFiles::new(typed.runs.clone());
    let (mut measured, mut failed, mut exit) = (Vec::new(), Vec::new(), 0);
    let n_sets = sets.len();
    for set in sets {
        let name = set.name.clone();
        match measure(set, typed, &arms, &here, &mut runs, output) {
            Ok(scored) => {
                if let Some(warning) = quality_table::missing_warning(&name, &scored.missing) {
                    output.warn(&warning);
                }
                measured.push(scored);
            }
            Err(error) if n_sets == 1 => return Err(error),
            Err(error) => {
                let shown = error.shown();
                let hint = shown.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                output.warn(&format!("{name} is left out: {}{hint}", shown.message));
                failed.push(Failed { set: name, error: shown.message });
                exit = shown.exit.max(exit);
            }
        }
    }
    let report = Report::of(&arms, measured, failed);
    output.figures(&report, |output| match report.sets.is_empty() {
        true => Ok(()),
        false => quality_table::print(&report, output),
    })?;
    Ok(exit)
}

/// Returns the whole of each mode, then the same without each of the parts.
fn arms(typed: &QualityArgs) -> Vec<Arm> {
    let parts: Vec<RankingPart> = typed.leave_out.iter().flat_map(|parts| parts.0.iter().copied()).collect();
    let left_out = || std::iter::once(None).chain(parts.iter().copied().map(Some));
    let mut modes: Vec<Mode> = Vec::new();
    for mode in typed.modes.iter().map(|mode| (*mode).into()) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes.into_iter().flat_map(|mode| left_out().map(move |without| Arm { mode, without })).collect()
}

fn measure(
    set: QuestionSet,
    typed: &QualityArgs,
    arms: &[Arm],
    here: impl Fn() -> Result<CommandContext, CliError>,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<Measured, CliError> {
    runs.discard(arms, &set)?;
    match &typed.trees {
        Some(trees) => {
            let context = tree::find(&set, trees)?;
            ask(set, arms, &context, true, runs, output)
        }
        None => ask(set, arms, &here()?, false, runs, output),
    }
}
