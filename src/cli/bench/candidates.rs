//! Writes the best hits of each question of a set, with what they were ranked by and the tokens of their texts.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;

use super::asked_definitions::CUT;
use super::asking::{Arm, Asking, params, prepare};
use super::candidate_rows::{CandidateRows, HeaderRow, Row};
use super::quality_table::missing_warning;
use super::question_sets::{self, QuestionSet};
use super::run_files::check_outside;
use crate::cli::args::CandidatesArgs;
use crate::cli::context::CommandContext;
use crate::cli::error::{CliError, CliResult};
use crate::cli::output::Output;
use crate::cli::text::{bytes, count};
use crate::embed::BUILTIN_ID;
use crate::paths::{IoContext, PathError};
use crate::proto::{Mode, SearchParams};

/// What was written.
#[derive(Serialize)]
struct Summary {
    file: String,
    questions: usize,
    /// Of all questions together.
    candidates: usize,
    /// Different ones among the candidates.
    chunks: usize,
    bytes: u64,
}

/// Asks the questions in the current worktree. The file is there once it is whole.
pub(super) fn write(
    typed: &CandidatesArgs,
    here: impl Fn() -> Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    let mut set = read(&typed.set)?;
    let context = here()?;
    check_outside("--out", &typed.out, &context.layout.root)?;
    let mut client = context.connect()?;
    let (_, missing) = prepare(&mut set, &context, &mut client, output)?;
    if let Some(warning) = missing_warning(&set.name, &missing) {
        output.warn(&warning);
    }
    let part = typed.out.with_added_extension("part");
    let mut file = BufWriter::new(File::create(&part).at("create", &part)?);
    let mut asking = Asking::new(&set, &context, &mut client, 1, output);
    let summary = write_rows(&set, &context, &mut asking, &mut file, &part)?;
    asking.warn(output);
    file.flush().at("write", &part)?;
    fs::rename(&part, &typed.out).at("rename", &part)?;
    let bytes_written = fs::metadata(&typed.out).at("read", &typed.out)?.len();
    let summary = Summary { file: typed.out.display().to_string(), bytes: bytes_written, ..summary };
    output.figures(&summary, |output| {
        let questions = count(summary.questions as u64, "question", "questions");
        let candidates = count(summary.candidates as u64, "candidate", "candidates");
        let chunks = count(summary.chunks as u64, "chunk", "chunks");
        let size = bytes(summary.bytes);
        output.line(&format!("{questions}, {candidates} of {chunks}, {size}: {}", summary.file))
    })?;
    Ok(0)
}

/// Reads the one set of a path.
fn read(path: &Path) -> Result<QuestionSet, CliError> {
    let mut sets = question_sets::read(path)?;
    let refused = |message: &str, hint| {
        Err(CliError::Usage { message: format!("{}: {message}", path.display()), hint })
    };
    match sets.pop() {
        Some(_) if !sets.is_empty() => refused("has several sets", "name one file of questions"),
        Some(set) if !set.has_definitions() => refused(
            "no question names definitions",
            "name them as in \"answers\": [{\"path\": \"src/a.rs\", \"lines\": [10, 20]}]",
        ),
        Some(set) => Ok(set),
        None => refused("has no set", "name one file of questions"),
    }
}

fn write_rows(
    set: &QuestionSet,
    context: &CommandContext,
    asking: &mut Asking<'_>,
    file: &mut BufWriter<File>,
    named: &Path,
) -> Result<Summary, CliError> {
    let mut rows = CandidateRows::new();
    let mut n_candidates = 0;
    let header = Row::Header(HeaderRow {
        set: &set.name,
        origin: set.origin.as_ref(),
        model: BUILTIN_ID,
        limit: CUT,
        questions: set.questions.len(),
    });
    write_row(&header, file, named)?;
    for question in &set.questions {
        let whole = Arm { mode: Mode::Hybrid, without: None };
        let params = SearchParams { explain: true, texts: true, ..params(question, set, whole, context) };
        let hits = asking.search(&params)?;
        n_candidates += hits.len();
        for row in rows.of(question, hits) {
            write_row(&row, file, named)?;
        }
    }
    let (questions, chunks) = (set.questions.len(), rows.n_chunks());
    Ok(Summary { file: String::new(), questions, candidates: n_candidates, chunks, bytes: 0 })
}

fn write_row(row: &Row<'_>, file: &mut BufWriter<File>, named: &Path) -> Result<(), PathError> {
    serde_json::to_writer(&mut *file, row).map_err(io::Error::from).at("write", named)?;
    file.write_all(b"\n").at("write", named)
}
