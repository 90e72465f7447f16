//! Asks the questions of a set over the socket, once for each arm, and scores what comes back.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use memod_base::paths::PathError;
use memod_base::types::RankingPart;
use memod_client::Client;
use memod_proto::{Hit, Mode, SearchParams, SearchResult, StatusParams, StatusResult, Sync};
use serde::Serialize;

use super::asked_definitions::{self, DefinitionFigures};
use super::labels::{FoundSpan, Question};
use super::question_sets::QuestionSet;
use super::run_files::RunFiles;
use super::scores::{Scores, scores};
use super::tree::{haystack_glob, resolve};
use crate::context::CommandContext;
use crate::error::CliError;
use crate::output::Output;
use crate::progress;

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
    /// Number of questions that nothing answers; they are not asked.
    pub(super) n_absent: usize,
    /// Until every file and vector was there, ms.
    pub(super) indexed_ms: u64,
    /// One for each arm.
    pub(super) arms: Vec<Answers>,
}

/// The answers of an arm to the questions of a set, in their order.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) scores: Vec<Scores>,
    /// Of the questions whose definitions are named.
    pub(super) definitions: Vec<DefinitionFigures>,
    /// From the call to its decoded reply.
    pub(super) times_ms: Vec<f64>,
}

/// Asks a set in a worktree. A daemon that was started only for that is stopped again if `stops_daemon`.
pub(super) fn ask(
    mut set: QuestionSet,
    arms: &[Arm],
    context: &CommandContext,
    stops_daemon: bool,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<Measured, CliError> {
    runs.check_outside(&context.layout.root)?;
    let was_running = !stops_daemon || context.connect_running().is_ok();
    let mut client = context.connect()?;
    let measured = ask_all(&mut set, arms, context, &mut client, runs, output);
    if !was_running && let Err(error) = client.stop() {
        output.warn(&format!("{}: {error}", set.name));
    }
    measured
}

/// Asks all questions once the index is complete, and writes what was found.
fn ask_all(
    set: &mut QuestionSet,
    arms: &[Arm],
    context: &CommandContext,
    client: &mut Client,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<Measured, CliError> {
    let n_all = set.questions.len();
    set.questions.retain(|question| !question.is_absent());
    let n_absent = n_all - set.questions.len();
    if set.questions.is_empty() {
        return Err(CliError::Usage {
            message: format!("{}: nothing answers any of its questions", set.file.display()),
            hint: "add questions with \"answers\" or \"relevant\"",
        });
    }
    let (indexed_ms, missing) = prepare_set(set, context, client, output)?;
    let mut asking = Asking::new(set, context, client, arms.len(), output);
    let answered: Vec<_> = arms.iter().map(|arm| asking.ask_arm(*arm)).collect::<Result<_, _>>()?;
    let (answers, found): (Vec<Answers>, Vec<HitsByQuestion>) = answered.into_iter().unzip();
    for (arm, found) in arms.iter().zip(&found) {
        runs.write(*arm, set, found)?;
    }
    asking.warn_of_answers(output);
    let (name, suite) = (set.name.clone(), set.suite.clone());
    let root = context.layout.root.display().to_string();
    Ok(Measured { name, suite, root, missing, n_absent, indexed_ms, arms: answers })
}

/// Waits until the index is complete; returns after how many milliseconds that was, and the answers that are not in it.
pub(super) fn prepare_set(
    set: &mut QuestionSet,
    context: &CommandContext,
    client: &mut Client,
    output: &Output,
) -> Result<(u64, Vec<String>), CliError> {
    let indexed_ms = wait_for_index(context, client, output)?;
    let missing = resolve(set, &context.layout.root, &indexed_paths(context, client)?);
    Ok((indexed_ms, missing))
}

/// Returns after how many milliseconds every file and vector was there.
fn wait_for_index(context: &CommandContext, client: &mut Client, output: &Output) -> Result<u64, CliError> {
    let reached = progress::wait(client, &context.cwd, Instant::now(), output)?;
    reached.full_ms.ok_or_else(|| {
        let why = reached.last.reason.unwrap_or_else(|| "the index is behind".to_owned());
        let (action, path) = ("index", context.layout.root.clone());
        PathError { action, path, source: io::Error::other(why) }.into()
    })
}

fn indexed_paths(context: &CommandContext, client: &mut Client) -> Result<Vec<String>, CliError> {
    let listing = StatusParams { cwd: context.cwd.clone(), files: true, skipped: false };
    let status: StatusResult = client.call("status", &listing)?;
    Ok(status.files.unwrap_or_default())
}

/// The hits of each question of a set.
type HitsByQuestion = Vec<Vec<FoundSpan>>;

/// The questions of a set, a daemon that answers them, and what is to be said about its answers.
pub(super) struct Asking<'a> {
    set: &'a QuestionSet,
    context: &'a CommandContext,
    client: &'a mut Client,
    bar: ProgressBar,
    /// One, if no file changed meanwhile.
    clocks: BTreeSet<String>,
    degraded: BTreeSet<String>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        set: &'a QuestionSet,
        context: &'a CommandContext,
        client: &'a mut Client,
        n_arms: usize,
        output: &Output,
    ) -> Self {
        let bar = progress::bar(output.quiet, (n_arms * set.questions.len()) as u64);
        bar.set_message(set.name.clone());
        Self { set, context, client, bar, clocks: BTreeSet::new(), degraded: BTreeSet::new() }
    }

    fn ask_arm(&mut self, arm: Arm) -> Result<(Answers, HitsByQuestion), CliError> {
        let (mut answers, mut found) = (Answers::default(), Vec::new());
        for question in &self.set.questions {
            let (hits, time) = self.ask_question(question, arm)?;
            answers.scores.push(scores(&question.ranks(&self.set.corpus, &hits)));
            if !question.definitions.is_empty() {
                let ranks = question.definition_ranks(&hits);
                answers.definitions.push(DefinitionFigures::score_ranks(&question.definitions, &ranks));
            }
            answers.times_ms.push(milliseconds(time));
            found.push(hits);
        }
        Ok((answers, found))
    }

    fn ask_question(
        &mut self,
        question: &Question,
        arm: Arm,
    ) -> Result<(Vec<FoundSpan>, Duration), CliError> {
        let params = build_search_params(question, self.set, arm, self.context);
        let start = Instant::now();
        let hits = self.fetch_hits(&params)?;
        let time = start.elapsed();
        Ok((hits.into_iter().map(found_span).collect(), time))
    }

    /// Returns the hits of a search, without those in the file of the questions.
    pub(super) fn fetch_hits(&mut self, params: &SearchParams) -> Result<Vec<Hit>, CliError> {
        let result: SearchResult = self.client.call("search", params)?;
        self.clocks.insert(result.clock);
        self.degraded.extend(result.degraded);
        self.bar.inc(1);
        Ok(result.hits.into_iter().filter(|hit| !self.is_own(hit)).collect())
    }

    /// Returns whether a hit is in the file of the questions, which would answer each of them.
    fn is_own(&self, hit: &Hit) -> bool {
        let is_in_file = hit.commit.is_none() && hit.memory.is_none();
        is_in_file && self.context.layout.root.join(&hit.path) == self.set.file
    }

    pub(super) fn warn_of_answers(self, output: &Output) {
        let name = &self.set.name;
        if self.clocks.len() > 1 {
            output.warn(&format!("{name}: files changed while it was asked; ask again for exact figures"));
        }
        for why in self.degraded {
            output.warn(&format!("{name}: degraded: {why}"));
        }
    }
}

/// All kinds of hits are asked for, as a user would. The index is complete, so nothing is waited for.
pub(super) fn build_search_params(
    question: &Question,
    set: &QuestionSet,
    arm: Arm,
    context: &CommandContext,
) -> SearchParams {
    SearchParams {
        cwd: context.cwd.clone(),
        query: question.text.clone(),
        mode: arm.mode,
        sync: Sync::None,
        path: haystack_glob(question, &set.corpus).into_iter().collect(),
        without: arm.without.into_iter().collect(),
        limit: Some(if set.has_definitions() { asked_definitions::CUT } else { N_HITS }),
        threshold: Some(0.0),
        ..SearchParams::default()
    }
}

fn found_span(hit: Hit) -> FoundSpan {
    FoundSpan { path: hit.path, lines: hit.lines, score: hit.score, kind: hit.kind }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
