//! Asks the questions of a set over the socket, once for each arm, and scores what comes back.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::labels::{FoundSpan, Question};
use super::question_sets::QuestionSet;
use super::run_files::RunFiles;
use super::scores::{Scores, scores};
use super::tree::{haystack_glob, resolve};
use crate::cli::context::CommandContext;
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::progress;
use crate::client::Client;
use crate::paths::PathError;
use crate::proto::{Hit, Mode, SearchParams, SearchResult, StatusParams, StatusResult, Sync};
use crate::types::RankingPart;

/// Hits asked for: several may be of one record, or of none.
const N_HITS: usize = 50;

/// A way to search that is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Arm {
    pub(super) mode: Mode,
    /// The part of the ranking that is left out.
    pub(super) without: Option<RankingPart>,
}

impl Arm {
    /// Returns the word for it in names of folders and in messages: `hybrid`, `hybrid-without-path`.
    pub(super) fn name(self) -> String {
        match self.without {
            Some(part) => format!("{}-without-{}", self.mode.as_str(), part.as_str()),
            None => self.mode.as_str().to_owned(),
        }
    }
}

/// What a set scored.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) suite: String,
    /// Top of the worktree.
    pub(super) root: String,
    /// Answers that are not in the tree.
    pub(super) missing: Vec<String>,
    /// Until every file and vector was there, ms.
    pub(super) indexed_ms: u64,
    /// One for each arm.
    pub(super) arms: Vec<Answers>,
}

/// The answers of an arm to the questions of a set, in their order.
pub(super) struct Answers {
    pub(super) scores: Vec<Scores>,
    /// From the call to its decoded reply.
    pub(super) times_ms: Vec<f64>,
}

/// Asks a set in a worktree. A daemon that was started only for that is stopped again if `stops_daemon`.
pub(super) fn ask(
    mut set: QuestionSet,
    arms: &[Arm],
    (context, stops_daemon): (&CommandContext, bool),
    runs: &mut RunFiles,
    output: &Output,
) -> Result<Measured, CliError> {
    runs.check_outside(&context.layout.root)?;
    let was_running = !stops_daemon || context.connect_running().is_ok();
    let mut client = context.connect()?;
    let measured = ask_all(&mut set, arms, (&mut client, context), runs, output);
    if !was_running && let Err(error) = client.stop() {
        output.warn(&format!("{}: {error}", set.name));
    }
    let (indexed_ms, missing, arms) = measured?;
    let root = context.layout.root.display().to_string();
    Ok(Measured { name: set.name, suite: set.suite, root, missing, indexed_ms, arms })
}

/// Returns how long the index took, which answers are not in the tree, and the answers of each arm.
fn ask_all(
    set: &mut QuestionSet,
    arms: &[Arm],
    (client, context): (&mut Client, &CommandContext),
    runs: &mut RunFiles,
    output: &Output,
) -> Result<(u64, Vec<String>, Vec<Answers>), CliError> {
    let start = Instant::now();
    let reached = progress::wait(client, &context.cwd, start, output)?;
    let Some(indexed_ms) = reached.full_ms else {
        let why = reached.last.reason.unwrap_or_else(|| "the index is behind".to_owned());
        let (action, path) = ("index", context.layout.root.clone());
        return Err(PathError { action, path, source: io::Error::other(why) }.into());
    };
    let listing = StatusParams { cwd: context.cwd.clone(), files: true, skipped: false };
    let status: StatusResult = client.call("status", &listing)?;
    let missing = resolve(set, &context.layout.root, &status.files.unwrap_or_default());
    let bar = progress::bar(output.quiet);
    bar.set_message(set.name.clone());
    bar.set_length((arms.len() * set.questions.len()) as u64);
    // Where the questions are in the worktree, their file would answer each of them.
    let is_own = |hit: &FoundSpan| hit.is_file && context.layout.root.join(&hit.path) == set.file;
    let mut degraded = BTreeSet::new();
    let (mut answered, mut found_by_arms, mut clocks) = (Vec::new(), Vec::new(), BTreeSet::new());
    for arm in arms {
        let mut answers = Answers { scores: Vec::new(), times_ms: Vec::new() };
        let mut found = Vec::new();
        for question in &set.questions {
            let params = params(question, set, *arm, context);
            let asked = Instant::now();
            let result: SearchResult = client.call("search", &params)?;
            answers.times_ms.push(milliseconds(asked.elapsed()));
            degraded.extend(result.degraded);
            clocks.insert(result.clock);
            let hits: Vec<FoundSpan> =
                result.hits.into_iter().map(found_span).filter(|hit| !is_own(hit)).collect();
            answers.scores.push(scores(&question.ranks(&set.corpus, &hits)));
            found.push(hits);
            bar.inc(1);
        }
        found_by_arms.push(found);
        answered.push(answers);
    }
    for (arm, found) in arms.iter().zip(&found_by_arms) {
        runs.write(*arm, set, found)?;
    }
    if clocks.len() > 1 {
        output.warn(&format!("{}: files changed while it was asked; ask again for exact figures", set.name));
    }
    for why in degraded {
        output.warn(&format!("{}: degraded: {why}", set.name));
    }
    Ok((indexed_ms, missing, answered))
}

/// All kinds of hits are asked for, as a user would. The index is complete, so nothing is waited for.
fn params(question: &Question, set: &QuestionSet, arm: Arm, context: &CommandContext) -> SearchParams {
    SearchParams {
        cwd: context.cwd.clone(),
        query: question.text.clone(),
        mode: arm.mode,
        sync: Sync::None,
        path: haystack_glob(question, &set.corpus).into_iter().collect(),
        without: arm.without.into_iter().collect(),
        limit: Some(N_HITS),
        ..SearchParams::default()
    }
}

fn found_span(hit: Hit) -> FoundSpan {
    let is_file = hit.commit.is_none() && hit.memory.is_none();
    FoundSpan { path: hit.path, lines: hit.lines, score: hit.score, is_file }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
