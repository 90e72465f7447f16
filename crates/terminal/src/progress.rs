//! Shows the progress of indexing until it is complete.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use memod_base::threads::pause;
use memod_client::Client;
use memod_proto::{FreshnessLevel, IndexProgress, IndexStep, Pending, SyncParams, SyncResult};

use crate::context::CommandContext;
use crate::error::CliError;
use crate::output::Output;
use crate::text::{format_bytes, format_count, format_duration};

/// How long the daemon waits before it answers one poll, ms.
const POLL_MS: u64 = 200;

/// Least time between two polls, for a daemon that answers without waiting.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time without progress after which waiting for the index ends.
const NO_PROGRESS_TIMEOUT: Duration = Duration::from_secs(60);

/// Time after which nobody waits for the index any more, if the daemon reports the same failure all the time.
const FAILURE_TIMEOUT: Duration = Duration::from_millis(500);

/// Time after which the speed of a step is taken as known.
const ESTIMATE_AFTER: Duration = Duration::from_secs(3);

/// Interval of the spinner.
const TICK_INTERVAL: Duration = Duration::from_millis(100);

/// The times of the milestones of indexing.
pub struct IndexingMilestones {
    /// Result of the last poll.
    pub last_poll: SyncResult,
    /// Time until every file was searchable by its words, ms; `None` if waiting ended before.
    pub lexical_ms: Option<u64>,
    /// Time until every chunk had its vector, ms; `None` if waiting ended before.
    pub full_ms: Option<u64>,
}

/// Waits until the worktree of `cwd` is indexed, and shows the progress on a terminal.
pub fn wait_until_indexed(
    client: &mut Client,
    cwd: &str,
    start: Instant,
    output: &Output,
) -> Result<IndexingMilestones, CliError> {
    let mut line = IndexingLine::new(output.quiet);
    let mut milestones =
        IndexingMilestones { last_poll: SyncResult::default(), lexical_ms: None, full_ms: None };
    for level in [FreshnessLevel::Fs, FreshnessLevel::Full] {
        milestones.last_poll = poll_until_fresh(client, cwd, level, &mut line)?;
        if !milestones.last_poll.fresh {
            break;
        }
        let took = Some(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
        match level {
            FreshnessLevel::Fs => milestones.lexical_ms = took,
            _ => milestones.full_ms = took,
        }
    }
    Ok(milestones)
}

fn poll_until_fresh(
    client: &mut Client,
    cwd: &str,
    level: FreshnessLevel,
    line: &mut IndexingLine,
) -> Result<SyncResult, CliError> {
    let params = SyncParams { cwd: cwd.to_owned(), sync: level, wait_ms: Some(POLL_MS) };
    let mut last_seen = (Pending::default(), None);
    let mut progressed_at = Instant::now();
    let mut failing: Option<(String, Instant)> = None;
    loop {
        let asked_at = Instant::now();
        let result: SyncResult = client.call("sync", &params)?;
        line.show_progress(result.progress.as_ref());
        let now = (result.pending, result.progress);
        if now != last_seen {
            (last_seen, progressed_at) = (now, Instant::now());
        }
        let is_hopeless = match (&result.failed, &failing) {
            (Some(why), Some((same, since))) if why == same => since.elapsed() > FAILURE_TIMEOUT,
            (Some(why), _) => {
                failing = Some((why.clone(), Instant::now()));
                false
            }
            (None, _) => false, // no failure, or the daemon is trying again
        };
        if result.fresh || is_hopeless || progressed_at.elapsed() > NO_PROGRESS_TIMEOUT {
            return Ok(result);
        }
        // Counting a large index takes long; without a pause, the daemon would count most of the time.
        let counting_time = asked_at.elapsed().saturating_sub(Duration::from_millis(POLL_MS));
        pause(MIN_POLL_INTERVAL.saturating_sub(asked_at.elapsed()).max(4 * counting_time));
    }
}

/// Makes a call that waits for the index, and shows the progress on a terminal.
pub fn show_progress_while_calling<T>(
    context: &CommandContext,
    output: &Output,
    call: impl FnOnce() -> T,
) -> T {
    let mut line = IndexingLine::new(output.quiet);
    if line.bar.is_hidden() {
        return call();
    }
    let (ended, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let params =
                SyncParams { cwd: context.cwd.clone(), sync: FreshnessLevel::None, wait_ms: Some(0) };
            let mut wait = Duration::from_millis(POLL_MS);
            // If no daemon answers, there is no progress to show.
            let Ok(mut client) = context.connect_running_within(Duration::from_secs(1)) else { return };
            while end.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
                let asked_at = Instant::now();
                let Ok(SyncResult { progress, .. }) = client.call("sync", &params) else { return };
                line.show_progress(progress.as_ref());
                wait = Duration::from_millis(POLL_MS).max(4 * asked_at.elapsed());
            }
        });
        let result = call();
        drop(ended);
        result
    })
}

/// The line on a terminal that shows the progress of indexing.
struct IndexingLine {
    bar: ProgressBar,
    step: Option<ShownStep>,
}

/// The step that is shown.
struct ShownStep {
    step: IndexStep,
    /// Whether the total amount is known.
    has_total: bool,
    since: Instant,
    /// The amount that was done when the step was first seen.
    done_before: u64,
}

impl IndexingLine {
    fn new(quiet: bool) -> Self {
        Self { bar: new_progress_line(quiet), step: None }
    }

    /// Shows the progress of a step. Does nothing if there is no progress to show, or if the line is hidden.
    fn show_progress(&mut self, progress: Option<&IndexProgress>) {
        let Some(progress) = progress.filter(|_| !self.bar.is_hidden()) else { return };
        let (done, total) = bar_amounts(progress);
        match &self.step {
            Some(now) if (now.step, now.has_total) == (progress.step, progress.total.is_some()) => {
                let left = estimate_left_s(now.since.elapsed(), (now.done_before, done, total))
                    .map(format_remaining_time);
                self.bar.set_message(format!("{}{}", describe_amounts(progress), left.unwrap_or_default()));
                self.bar.set_length(total);
                self.bar.set_position(done);
            }
            _ => {
                self.bar.finish_and_clear();
                // Set the position and the message before the first tick draws the line.
                self.bar = build_step_line(progress, total)
                    .with_position(done)
                    .with_message(describe_amounts(progress));
                self.bar.enable_steady_tick(TICK_INTERVAL);
                let (since, has_end) = (Instant::now(), progress.total.is_some());
                self.step =
                    Some(ShownStep { step: progress.step, has_total: has_end, since, done_before: done });
            }
        }
    }
}

/// Returns the amounts done and in total for the bar: bytes for files, because files differ in size.
fn bar_amounts(progress: &IndexProgress) -> (u64, u64) {
    match (progress.done_bytes, progress.total_bytes) {
        (Some(done), Some(total @ 1..)) => (done, total),
        _ => (progress.done, progress.total.unwrap_or(0)),
    }
}

/// Estimates the remaining time of a step, s, from the amount done since the step was first seen; `None` before the speed is known.
fn estimate_left_s(elapsed: Duration, (done_before, done, total): (u64, u64, u64)) -> Option<u64> {
    let done_since = done.saturating_sub(done_before);
    if elapsed < ESTIMATE_AFTER || done_since == 0 {
        return None;
    }
    let left_ms = elapsed.as_millis() * u128::from(total.saturating_sub(done)) / u128::from(done_since);
    u64::try_from(left_ms / 1_000).ok()
}

/// Returns the remaining time of a step for people; an empty text for less than a second.
fn format_remaining_time(left_s: u64) -> String {
    match left_s {
        0 => String::new(),
        1..60 => format!(", {left_s} s left"),
        _ => format!(", {} left", format_duration(left_s * 1_000)),
    }
}

/// Returns the number of a step, of four, and its name.
fn step_number_and_name(step: IndexStep) -> (u8, &'static str) {
    match step {
        IndexStep::Listing => (1, "listing"),
        IndexStep::Reading => (2, "reading"),
        IndexStep::Commits => (3, "commits"),
        IndexStep::Embedding => (4, "embedding"),
    }
}

/// Describes the amounts of a step for people: `1,200 of 5,000 files, 3.1 MiB of 12.0 MiB`.
fn describe_amounts(progress: &IndexProgress) -> String {
    let (one, many) = match progress.step {
        IndexStep::Listing | IndexStep::Reading => ("file", "files"),
        IndexStep::Commits => ("commit", "commits"),
        IndexStep::Embedding => ("chunk", "chunks"),
    };
    let Some(total) = progress.total else {
        return format!("{} found", format_count(progress.done, one, many));
    };
    let sizes = match (progress.done_bytes, progress.total_bytes) {
        (Some(done), Some(total @ 1..)) => format!(", {} of {}", format_bytes(done), format_bytes(total)),
        _ => String::new(),
    };
    format!("{} of {}{sizes}", HumanCount(progress.done), format_count(total, one, many))
}

/// Describes a step of indexing and its progress in words: `step 2 of 4, reading: 1,200 of 5,000 files`.
pub fn describe_step(progress: &IndexProgress) -> String {
    let (number, name) = step_number_and_name(progress.step);
    format!("step {number} of 4, {name}: {}", describe_amounts(progress))
}

/// Returns the progress line of a step, with a bar if the total is known and with a spinner otherwise.
fn build_step_line(progress: &IndexProgress, total: u64) -> ProgressBar {
    let template = match progress.total {
        None => "{prefix:13} {spinner} {msg}, {elapsed}",
        Some(_) => "{prefix:13} [{bar:20}] {msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let (number, name) = step_number_and_name(progress.step);
    let target = ProgressDrawTarget::stderr();
    let line = ProgressBar::with_draw_target(Some(total), target).with_finish(ProgressFinish::AndClear);
    line.with_style(style.progress_chars("=> ")).with_prefix(format!("{number}/4 {name}"))
}

/// Returns a progress bar for `total` questions, files or other countable things.
pub fn new_progress_bar(quiet: bool, total: u64) -> ProgressBar {
    let template = "{msg:>10} [{bar:32}] {human_pos}/{human_len} {elapsed}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let bar = new_progress_line(quiet).with_style(style.progress_chars("=> "));
    bar.set_length(total);
    bar
}

/// Returns a progress line without a total. It is hidden with `quiet`, or if stderr is not a terminal. It has no colour, so
/// `--color` does not apply.
fn new_progress_line(quiet: bool) -> ProgressBar {
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
                estimate_left_s(Duration::from_secs(elapsed_s), amounts),
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
        let check = |progress: IndexProgress, expected: &str| assert_eq!(describe_step(&progress), expected);
        check(IndexProgress::listing(1), "step 1 of 4, listing: 1 file found");
        check(
            IndexProgress::reading((1_200, 5_000), (3 << 20, 12 << 20)),
            "step 2 of 4, reading: 1,200 of 5,000 files, 3.0 MiB of 12.0 MiB",
        );
        check(IndexProgress::reading((0, 1), (0, 0)), "step 2 of 4, reading: 0 of 1 file");
        check(
            IndexProgress::from_step(IndexStep::Commits, (0, 2_000)),
            "step 3 of 4, commits: 0 of 2,000 commits",
        );
        check(IndexProgress::embedding(1, 4).unwrap(), "step 4 of 4, embedding: 3 of 4 chunks");
        assert_eq!(IndexProgress::embedding(0, 4), None);
    }
}
