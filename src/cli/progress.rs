//! Shows the progress of indexing until it is complete.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::client::Client;
use crate::proto::{Pending, Sync, SyncParams, SyncResult};
use crate::threads::pause;

use super::error::CliError;
use super::output::Output;

/// How long one poll waits in the daemon, ms.
const POLL_MS: u64 = 200;

/// Least time between two polls, for a daemon that answers without waiting.
const POLL_AT_LEAST: Duration = Duration::from_millis(20);

/// Time without any progress after which waiting ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time for which one failure may last, although it is tried again, before waiting ends.
const FAILING: Duration = Duration::from_millis(500);

/// The milestones of indexing.
pub(super) struct Reached {
    /// Result of the last poll.
    pub(super) last: SyncResult,
    /// Time until every file was searchable by its words, ms; `None` if waiting ended before.
    pub(super) lexical_ms: Option<u64>,
    /// Time until every chunk had its vector, ms; `None` if waiting ended before.
    pub(super) full_ms: Option<u64>,
}

/// Waits until the view of `cwd` is indexed, with a bar on a terminal.
pub(super) fn wait(
    client: &mut Client,
    cwd: &str,
    start: Instant,
    output: &Output,
) -> Result<Reached, CliError> {
    let bar = bar(output.quiet);
    let mut reached = Reached { last: SyncResult::default(), lexical_ms: None, full_ms: None };
    for (level, label) in [(Sync::Fs, "files"), (Sync::Full, "embeddings")] {
        reached.last = until(client, cwd, level, |done, all| {
            bar.set_message(label);
            bar.set_length(all);
            bar.set_position(done);
        })?;
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
    show: impl Fn(u64, u64),
) -> Result<SyncResult, CliError> {
    let params = SyncParams { cwd: cwd.to_owned(), sync: level, wait_ms: Some(POLL_MS) };
    let mut seen = (Pending::default(), 0);
    let mut moved = Instant::now();
    let mut failing: Option<(String, Instant)> = None;
    loop {
        let asked = Instant::now();
        let result: SyncResult = client.call("sync", &params)?;
        let (done, all) = position(level, &result);
        if all > 0 {
            show(done, all); // before that nobody knows how much there is
        }
        let now = (result.pending, result.done_files);
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

fn position(level: Sync, result: &SyncResult) -> (u64, u64) {
    match level {
        Sync::Full => {
            let all = result.total_chunks.max(result.pending.embeddings);
            (all - result.pending.embeddings, all)
        }
        _ => (result.done_files, result.total_files),
    }
}

/// Hidden if stderr is not a terminal. It has no colour, so `--color` does not apply.
pub(super) fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let template = "{msg:>10} [{bar:32}] {human_pos}/{human_len} {elapsed}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let bar = ProgressBar::with_draw_target(Some(0), target).with_finish(ProgressFinish::AndClear);
    bar.set_style(style.progress_chars("=> "));
    bar
}
