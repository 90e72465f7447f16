//! Asks the questions of a set over the socket, once for each arm, and scores the answers.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use memod_base::paths::PathError;
use memod_client::Client;
use memod_proto::{FreshnessLevel, Hit, SearchParams, SearchResult, StatusParams, StatusResult};
use memod_terminal::progress;
use memod_terminal::{CliError, CommandContext, Output};

use crate::asked_definitions::{DEFINITION_CUT, DefinitionFigures};
use crate::bench_arm::BenchArm;
use crate::find_tree::{build_haystack_glob, resolve_labels};
use crate::labelled_question::{HitSpan, LabelledQuestion};
use crate::question_sets::QuestionSet;
use crate::rank_scores::{RankScores, score_ranks};
use crate::run_files::RunFiles;

/// Number of hits to request. It is larger than the cut, because several hits may belong to one record, or to none.
const MAX_REQUESTED_HITS: usize = 50;

/// The scores of a set in each arm, and where the set was asked.
pub(crate) struct SetMeasurement {
    pub(crate) name: String,
    pub(crate) suite: String,
    /// Top directory of the worktree.
    pub(crate) root: String,
    /// Answers that are not in the worktree.
    pub(crate) missing: Vec<String>,
    /// Number of questions without an answer, which are not asked.
    pub(crate) n_absent: usize,
    /// Time until every file and vector was indexed, ms.
    pub(crate) indexed_ms: u64,
    /// The answers of each arm.
    pub(crate) arms: Vec<ArmAnswers>,
}

/// The scores and times of an arm, in the order of the questions of a set.
#[derive(Default)]
pub(crate) struct ArmAnswers {
    pub(crate) scores: Vec<RankScores>,
    /// Scores of the questions whose definitions are named.
    pub(crate) definitions: Vec<DefinitionFigures>,
    /// Time of each call until its reply is decoded, ms.
    pub(crate) times_ms: Vec<f64>,
}

/// Asks a set in a worktree and scores the answers. If `stops_daemon`, a daemon that was started for this is stopped again.
pub(crate) fn measure_in_worktree(
    mut set: QuestionSet,
    arms: &[BenchArm],
    context: &CommandContext,
    stops_daemon: bool,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<SetMeasurement, CliError> {
    runs.check_outside_worktree(&context.layout.root)?;
    let was_running = !stops_daemon || context.connect_running().is_ok();
    let mut client = context.connect()?;
    let measured = ask_all_questions(&mut set, arms, context, &mut client, runs, output);
    if !was_running && let Err(error) = client.stop() {
        output.write_warning(&format!("{}: {error}", set.name));
    }
    measured
}

/// Asks all questions once the index is complete, and writes the hits into the run files.
fn ask_all_questions(
    set: &mut QuestionSet,
    arms: &[BenchArm],
    context: &CommandContext,
    client: &mut Client,
    runs: &mut RunFiles,
    output: &Output,
) -> Result<SetMeasurement, CliError> {
    let n_all = set.questions.len();
    set.questions.retain(|question| !question.has_no_answer());
    let n_absent = n_all - set.questions.len();
    if set.questions.is_empty() {
        return Err(CliError::Usage {
            message: format!("{}: no question has an answer", set.file.display()),
            hint: "add questions with \"answers\" or \"relevant\"",
        });
    }
    let (indexed_ms, missing) = wait_and_resolve_labels(set, context, client, output)?;
    let mut runner = QuestionRunner::new(set, context, client, arms.len(), output);
    let answers_and_hits: Vec<_> = arms.iter().map(|arm| runner.ask_arm(*arm)).collect::<Result<_, _>>()?;
    let (answers, hits): (Vec<ArmAnswers>, Vec<HitsByQuestion>) = answers_and_hits.into_iter().unzip();
    for (arm, hits) in arms.iter().zip(&hits) {
        runs.write(*arm, set, hits)?;
    }
    runner.print_warnings(output);
    let (name, suite) = (set.name.clone(), set.suite.clone());
    let root = context.layout.root.display().to_string();
    Ok(SetMeasurement { name, suite, root, missing, n_absent, indexed_ms, arms: answers })
}

/// Waits until the index is complete. Returns the duration of the wait in ms, and the answers that are not in the index.
pub(crate) fn wait_and_resolve_labels(
    set: &mut QuestionSet,
    context: &CommandContext,
    client: &mut Client,
    output: &Output,
) -> Result<(u64, Vec<String>), CliError> {
    let indexed_ms = wait_for_index(context, client, output)?;
    let missing = resolve_labels(set, &context.layout.root, &indexed_paths(context, client)?);
    Ok((indexed_ms, missing))
}

/// Waits until every file and vector is indexed, and returns the duration in ms.
///
/// # Errors
/// When the index does not become complete.
fn wait_for_index(context: &CommandContext, client: &mut Client, output: &Output) -> Result<u64, CliError> {
    let reached = progress::wait_until_indexed(client, &context.cwd, Instant::now(), output)?;
    reached.full_ms.ok_or_else(|| {
        let why = reached.last_poll.reason.unwrap_or_else(|| "the index is behind".to_owned());
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
type HitsByQuestion = Vec<Vec<HitSpan>>;

/// Asks a daemon the questions of a set, and collects warnings about the answers.
pub(crate) struct QuestionRunner<'a> {
    set: &'a QuestionSet,
    context: &'a CommandContext,
    client: &'a mut Client,
    bar: ProgressBar,
    /// Clocks of the index in the answers; only one if no file changed meanwhile.
    clocks: BTreeSet<String>,
    degraded: BTreeSet<String>,
}

impl<'a> QuestionRunner<'a> {
    pub(crate) fn new(
        set: &'a QuestionSet,
        context: &'a CommandContext,
        client: &'a mut Client,
        n_arms: usize,
        output: &Output,
    ) -> Self {
        let bar = progress::new_progress_bar(output.quiet, (n_arms * set.questions.len()) as u64);
        bar.set_message(set.name.clone());
        Self { set, context, client, bar, clocks: BTreeSet::new(), degraded: BTreeSet::new() }
    }

    fn ask_arm(&mut self, arm: BenchArm) -> Result<(ArmAnswers, HitsByQuestion), CliError> {
        let (mut answers, mut hits_by_question) = (ArmAnswers::default(), Vec::new());
        for question in &self.set.questions {
            let (hits, time) = self.ask_question(question, arm)?;
            answers.scores.push(score_ranks(&question.rank_records(&self.set.corpus, &hits)));
            if !question.definitions.is_empty() {
                let ranks = question.rank_definitions(&hits);
                answers.definitions.push(DefinitionFigures::score_ranks(&question.definitions, &ranks));
            }
            answers.times_ms.push(to_milliseconds(time));
            hits_by_question.push(hits);
        }
        Ok((answers, hits_by_question))
    }

    fn ask_question(
        &mut self,
        question: &LabelledQuestion,
        arm: BenchArm,
    ) -> Result<(Vec<HitSpan>, Duration), CliError> {
        let params = build_search_params(question, self.set, arm, self.context);
        let start = Instant::now();
        let hits = self.fetch_hits(&params)?;
        let time = start.elapsed();
        Ok((hits.into_iter().map(to_hit_span).collect(), time))
    }

    /// Returns the hits of a search, without those in the file of the questions.
    pub(crate) fn fetch_hits(&mut self, params: &SearchParams) -> Result<Vec<Hit>, CliError> {
        let result: SearchResult = self.client.call("search", params)?;
        self.clocks.insert(result.clock);
        self.degraded.extend(result.degraded);
        self.bar.inc(1);
        Ok(result.hits.into_iter().filter(|hit| !self.is_in_question_file(hit)).collect())
    }

    /// Returns whether a hit is in the file of the questions, which would match each question.
    fn is_in_question_file(&self, hit: &Hit) -> bool {
        let is_in_file = hit.commit.is_none() && hit.memory.is_none();
        is_in_file && self.context.layout.root.join(&hit.path) == self.set.file
    }

    pub(crate) fn print_warnings(self, output: &Output) {
        let name = &self.set.name;
        if self.clocks.len() > 1 {
            output.write_warning(&format!(
                "{name}: files changed while its questions were asked; repeat the run for exact figures"
            ));
        }
        for why in self.degraded {
            output.write_warning(&format!("{name}: degraded: {why}"));
        }
    }
}

/// Builds the params of the search for a question. All kinds of hits are requested, as in a search of a user. The daemon need not
/// wait for the index, which is complete.
pub(crate) fn build_search_params(
    question: &LabelledQuestion,
    set: &QuestionSet,
    arm: BenchArm,
    context: &CommandContext,
) -> SearchParams {
    SearchParams {
        cwd: context.cwd.clone(),
        query: question.text.clone(),
        mode: arm.mode,
        sync: FreshnessLevel::None,
        path: build_haystack_glob(question, &set.corpus).into_iter().collect(),
        without: arm.without.into_iter().collect(),
        limit: Some(if set.has_definitions() { DEFINITION_CUT } else { MAX_REQUESTED_HITS }),
        threshold: Some(0.0),
        ..SearchParams::default()
    }
}

fn to_hit_span(hit: Hit) -> HitSpan {
    HitSpan { path: hit.path, lines: hit.lines, score: hit.score, kind: hit.kind }
}

fn to_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
