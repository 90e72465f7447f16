//! Shows the progress of indexing until it is complete.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use memod_base::threads::pause;
use memod_client::Client;
use memod_proto::{IndexProgress, IndexStep, Pending, Sync, SyncParams, SyncResult};

use super::context::CommandContext;
use super::error::CliError;
use super::output::Output;
use super::text::{bytes, count, duration};

/// How long one poll waits in the daemon, ms.
const POLL_MS: u64 = 200;

/// Least time between two polls, for a daemon that answers without waiting.
const POLL_AT_LEAST: Duration = Duration::from_millis(20);

/// Time without any progress after which waiting ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time for which one failure may last, although it is tried again, before waiting ends.
const FAILING: Duration = Duration::from_millis(500);

/// Time after which a step has shown how fast it is.
const ESTIMATE_AFTER: Duration = Duration::from_secs(3);

/// Interval of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// The milestones of indexing.
pub(super) struct Reached {
    /// Result of the last poll.
    pub(super) last: SyncResult,
    /// Time until every file was searchable by its words, ms; `None` if waiting ended before.
    pub(super) lexical_ms: Option<u64>,
    /// Time until every chunk had its vector, ms; `None` if waiting ended before.
    pub(super) full_ms: Option<u64>,
}

/// Waits until the view of `cwd` is indexed, and shows on a terminal how far that is.
pub(super) fn wait(
    client: &mut Client,
    cwd: &str,
    start: Instant,
    output: &Output,
) -> Result<Reached, CliError> {
    let mut line = IndexingLine::new(output.quiet);
    let mut reached = Reached { last: SyncResult::default(), lexical_ms: None, full_ms: None };
    for level in [Sync::Fs, Sync::Full] {
        reached.last = until(client, cwd, level, &mut line)?;
        if !reached.last.fresh {
            break;
        }
        let took = Some(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        match level {
            Sync::Fs => reached.lexical_ms = took,
            _ => reached.full_ms = took,
        }
    }
    Ok(reached)
}

fn until(
    client: &mut Client,
    cwd: &str,
    level: Sync,
    line: &mut IndexingLine,
) -> Result<SyncResult, CliError> {
    let params = SyncParams { cwd: cwd.to_owned(), sync: level, wait_ms: Some(POLL_MS) };
    let mut seen = (Pending::default(), None);
    let mut moved = Instant::now();
    let mut failing: Option<(String, Instant)> = None;
    loop {
        let asked = Instant::now();
        let result: SyncResult = client.call("sync", &params)?;
        line.show(result.progress.as_ref());
        let now = (result.pending, result.progress);
        if now != seen {
            (seen, moved) = (now, Instant::now());
        }
        let is_hopeless = match (&result.failed, &failing) {
            (Some(why), Some((same, since))) if why == same => since.elapsed() > FAILING,
            (Some(why), _) => {
                failing = Some((why.clone(), Instant::now()));
                false
            }
            (None, _) => false, // it is being tried again
        };
        if result.fresh || is_hopeless || moved.elapsed() > PATIENCE {
            return Ok(result);
        }
        // A large index takes long to count, and would be counted most of the time.
        let counting = asked.elapsed().saturating_sub(Duration::from_millis(POLL_MS));
        pause(POLL_AT_LEAST.saturating_sub(asked.elapsed()).max(4 * counting));
    }
}

/// Makes a call that waits for the index, and shows on a terminal how far that is.
pub(super) fn while_calling<T>(context: &CommandContext, output: &Output, call: impl FnOnce() -> T) -> T {
    let mut line = IndexingLine::new(output.quiet);
    if line.line.is_hidden() {
        return call();
    }
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let params = SyncParams { cwd: context.cwd.clone(), sync: Sync::None, wait_ms: Some(0) };
            let mut wait = Duration::from_millis(POLL_MS);
            // Without an answer there is nothing to show.
            let Ok(mut client) = context.connect_running_within(Duration::from_secs(1)) else { return };
            while end.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
                let asked = Instant::now();
                let Ok(SyncResult { progress, .. }) = client.call("sync", &params) else { return };
                line.show(progress.as_ref());
                wait = Duration::from_millis(POLL_MS).max(4 * asked.elapsed());
            }
        });
        let result = call();
        drop(ended);
        result
    })
}

/// The line on a terminal that shows how far indexing is.
struct IndexingLine {
    line: ProgressBar,
    step: Option<Step>,
}

/// The step that is shown.
struct Step {
    step: IndexStep,
    /// Whether it is known how much there is.
    has_end: bool,
    since: Instant,
    /// What was done when it was first seen.
    done_before: u64,
}

impl IndexingLine {
    fn new(quiet: bool) -> Self {
        Self { line: line(quiet), step: None }
    }

    /// Shows how far a step is; nothing before it is known which one runs.
    fn show(&mut self, progress: Option<&IndexProgress>) {
        let Some(progress) = progress.filter(|_| !self.line.is_hidden()) else { return };
        let (done, total) = amount(progress);
        match &self.step {
            Some(now) if (now.step, now.has_end) == (progress.step, progress.total.is_some()) => {
                let left = left_s(now.since.elapsed(), (now.done_before, done, total)).map(rest);
                self.line.set_message(format!("{}{}", shown(progress), left.unwrap_or_default()));
                self.line.set_length(total);
                self.line.set_position(done);
            }
            _ => {
                self.line.finish_and_clear();
                // It is not drawn before it is complete.
                self.line = step_line(progress, total).with_position(done).with_message(shown(progress));
                self.line.enable_steady_tick(TICK);
                let (since, has_end) = (Instant::now(), progress.total.is_some());
                self.step = Some(Step { step: progress.step, has_end, since, done_before: done });
            }
        }
    }
}

/// Returns what the length of the bar is made of: bytes for files, because those of one repository differ in size.
fn amount(progress: &IndexProgress) -> (u64, u64) {
    match (progress.done_bytes, progress.total_bytes) {
        (Some(done), Some(total @ 1..)) => (done, total),
        _ => (progress.done, progress.total.unwrap_or(0)),
    }
}

/// Estimates the rest of a step, s, from what was done of it since it was first seen; `None` while that says nothing.
fn left_s(elapsed: Duration, (done_before, done, total): (u64, u64, u64)) -> Option<u64> {
    let done_since = done.saturating_sub(done_before);
    if elapsed < ESTIMATE_AFTER || done_since == 0 {
        return None;
    }
    let left_ms = elapsed.as_millis() * u128::from(total.saturating_sub(done)) / u128::from(done_since);
    u64::try_from(left_ms / 1_000).ok()
}

/// Returns the rest of a step for people; nothing for less than a second.
fn rest(left_s: u64) -> String {
    match left_s {
        0 => String::new(),
        1..60 => format!(", {left_s} s left"),
        _ => format!(", {} left", duration(left_s * 1_000)),
    }
}

/// Returns the number of a step, of four, and its name.
fn name(step: IndexStep) -> (u8, &'static str) {
    match step {
        IndexStep::Listing => (1, "listing"),
        IndexStep::Reading => (2, "reading"),
        IndexStep::Commits => (3, "commits"),
        IndexStep::Embedding => (4, "embedding"),
    }
}

/// Returns how far a step is, for people: `1,200 of 5,000 files, 3.1 MiB of 12.0 MiB`.
fn shown(progress: &IndexProgress) -> String {
    let (one, many) = match progress.step {
        IndexStep::Listing | IndexStep::Reading => ("file", "files"),
        IndexStep::Commits => ("commit", "commits"),
        IndexStep::Embedding => ("chunk", "chunks"),
    };
    let Some(total) = progress.total else { return format!("{} found", count(progress.done, one, many)) };
    let sizes = match (progress.done_bytes, progress.total_bytes) {
        (Some(done), Some(total @ 1..)) => format!(", {} of {}", bytes(done), bytes(total)),
        _ => String::new(),
    };
    format!("{} of {}{sizes}", HumanCount(progress.done), count(total, one, many))
}

/// Returns the step of indexing with how far it is, for a report.
pub(super) fn step(progress: &IndexProgress) -> String {
    let (number, name) = name(progress.step);
    format!("step {number} of 4, {name}: {}", shown(progress))
}

/// Returns the line of a step, with a bar where its end is known.
fn step_line(progress: &IndexProgress, total: u64) -> ProgressBar {
    let template = match progress.total {
        None => "{prefix:13} {spinner} {msg}, {elapsed}",
        Some(_) => "{prefix:13} [{bar:20}] {msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let (number, name) = name(progress.step);
    let target = ProgressDrawTarget::stderr();
    let line = ProgressBar::with_draw_target(Some(total), target).with_finish(ProgressFinish::AndClear);
    line.with_style(style.progress_chars("=> ")).with_prefix(format!("{number}/4 {name}"))
}

/// Returns a bar over so many questions, files or whatever is counted.
pub(super) fn bar(quiet: bool, total: u64) -> ProgressBar {
    let template = "{msg:>10} [{bar:32}] {human_pos}/{human_len} {elapsed}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let bar = line(quiet).with_style(style.progress_chars("=> "));
    bar.set_length(total);
    bar
}

/// Hidden if stderr is not a terminal. It has no colour, so `--color` does not apply.
fn line(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_what_was_done() {
        let check = |elapsed_s, amounts, expected| {
            assert_eq!(
                left_s(Duration::from_secs(elapsed_s), amounts),
                expected,
                "{elapsed_s} s, {amounts:?}"
            );
        };
        check(2, (0, 50, 100), None);
        check(10, (0, 0, 100), None);
        check(10, (0, 50, 100), Some(10));
        // What was done before says nothing about the speed.
        check(10, (900, 910, 1_000), Some(90));
        check(10, (0, 100, 100), Some(0));
    }

    #[test]
    fn a_step_says_what_it_counts() {
        let check = |progress: IndexProgress, expected: &str| assert_eq!(step(&progress), expected);
        check(IndexProgress::listing(1), "step 1 of 4, listing: 1 file found");
        check(
            IndexProgress::reading((1_200, 5_000), (3 << 20, 12 << 20)),
            "step 2 of 4, reading: 1,200 of 5,000 files, 3.0 MiB of 12.0 MiB",
        );
        check(IndexProgress::reading((0, 1), (0, 0)), "step 2 of 4, reading: 0 of 1 file");
        check(IndexProgress::of(IndexStep::Commits, (0, 2_000)), "step 3 of 4, commits: 0 of 2,000 commits");
        check(IndexProgress::embedding(1, 4).unwrap(), "step 4 of 4, embedding: 3 of 4 chunks");
        assert_eq!(IndexProgress::embedding(0, 4), None);
    }
}
