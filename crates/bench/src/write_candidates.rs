//! Writes the best hits of each question of a set, with the signals and factors of their scores and the tokens of their texts.

use std::fs;
use std::path::Path;

use memod_base::paths::IoContext;
use memod_proto::{SearchMode, SearchParams};
use memod_terminal::text::{format_bytes, format_count};
use memod_terminal::{CliError, CliResult, CommandContext, Output, PartFile};
use memod_tokenizer::BUILTIN_ID;
use serde::Serialize;

use crate::asked_definitions::DEFINITION_CUT;
use crate::bench_args::CandidatesArgs;
use crate::bench_arm::BenchArm;
use crate::candidate_rows::{CandidateRowBuilder, CandidatesLine, HeaderRow};
use crate::quality_table::missing_warning;
use crate::question_runner::{QuestionRunner, build_search_params, wait_and_resolve_labels};
use crate::question_sets::{self, QuestionSet};
use crate::run_files::check_path_outside_worktree;

/// The numbers of a candidates file that was written.
#[derive(Serialize)]
struct CandidatesSummary {
    file: String,
    questions: usize,
    /// Number of candidates of all questions together.
    candidates: usize,
    /// Number of different chunks among the candidates.
    chunks: usize,
    bytes: u64,
}

/// Asks the questions in the current worktree, and writes the candidates. The file is replaced only once it is complete.
pub(crate) fn write_candidates(typed: &CandidatesArgs, dir: Option<&Path>, output: &mut Output) -> CliResult {
    let mut set = read_single_set(&typed.set)?;
    let context = CommandContext::find(dir)?;
    check_path_outside_worktree("--out", &typed.out, &context.layout.root)?;
    let mut client = context.connect()?;
    let (_, missing) = wait_and_resolve_labels(&mut set, &context, &mut client, output)?;
    if let Some(warning) = missing_warning(&set.name, &missing) {
        output.write_warning(&warning);
    }
    let mut file = PartFile::create(&typed.out)?;
    let mut runner = QuestionRunner::new(&set, &context, &mut client, 1, output);
    let summary = write_rows(&set, &context, &mut runner, &mut file)?;
    runner.print_warnings(output);
    file.replace_target()?;
    let bytes_written = fs::metadata(&typed.out).at("read", &typed.out)?.len();
    let summary =
        CandidatesSummary { file: typed.out.display().to_string(), bytes: bytes_written, ..summary };
    output.write_full_result(&summary, |output| {
        let questions = format_count(summary.questions as u64, "question", "questions");
        let candidates = format_count(summary.candidates as u64, "candidate", "candidates");
        let chunks = format_count(summary.chunks as u64, "chunk", "chunks");
        let size = format_bytes(summary.bytes);
        output.write_line(&format!("{questions}, {candidates} of {chunks}, {size}: {}", summary.file))
    })?;
    Ok(0)
}

/// Reads a set from a path.
///
/// # Errors
/// When the path has several sets or none, or no question names definitions.
fn read_single_set(path: &Path) -> Result<QuestionSet, CliError> {
    let mut sets = question_sets::read_sets(path)?;
    let (why, hint) = match sets.pop() {
        Some(_) if !sets.is_empty() => ("has several sets", "name one file of questions"),
        Some(set) if set.has_definitions() => return Ok(set),
        Some(_) => (
            "no question names definitions",
            "name them as in \"answers\": [{\"path\": \"src/a.rs\", \"lines\": [10, 20]}]",
        ),
        None => ("has no set", "name one file of questions"),
    };
    Err(CliError::Usage { message: format!("{}: {why}", path.display()), hint })
}

/// Asks all questions and writes their rows. The summary has no file and size yet.
fn write_rows(
    set: &QuestionSet,
    context: &CommandContext,
    runner: &mut QuestionRunner<'_>,
    file: &mut PartFile,
) -> Result<CandidatesSummary, CliError> {
    let mut rows = CandidateRowBuilder::new();
    let mut n_candidates = 0;
    let header = CandidatesLine::Header(HeaderRow {
        set: &set.name,
        origin: set.origin.as_ref(),
        model: BUILTIN_ID,
        limit: DEFINITION_CUT,
        questions: set.questions.len(),
    });
    write_row(&header, file)?;
    for question in &set.questions {
        let whole = BenchArm { mode: SearchMode::Hybrid, without: None };
        let params =
            SearchParams { explain: true, texts: true, ..build_search_params(question, set, whole, context) };
        let hits = runner.fetch_hits(&params)?;
        n_candidates += hits.len();
        for row in rows.build_rows(question, hits) {
            write_row(&row, file)?;
        }
    }
    let (questions, chunks) = (set.questions.len(), rows.n_chunks());
    Ok(CandidatesSummary { file: String::new(), questions, candidates: n_candidates, chunks, bytes: 0 })
}

fn write_row(row: &CandidatesLine<'_>, file: &mut PartFile) -> Result<(), CliError> {
    let mut line = serde_json::to_vec(row).expect("our own types have string keys");
    line.push(b'\n');
    file.write(&line)
}
