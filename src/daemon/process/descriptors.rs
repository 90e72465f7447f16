//! Raises the limit of open files, and divides it among connections and readers. The daemon does not start if the limit is too low.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

use memod_proto::RETRY_AFTER_MS;
use tokio::task::JoinSet;

/// Maximum number of connections.
const MAX_CONNECTIONS: u64 = 1_024;

/// Number of descriptors that are always open: databases with their logs, watcher, runtime, socket, lock, log.
const ALWAYS_OPEN: u64 = 48;

/// Number of descriptors of a working thread: a snapshot, the directories above a file, the file, pipes to a parser.
const PER_THREAD: u64 = 8;

/// Highest limit that macOS accepts if the hard limit is unlimited (`OPEN_MAX` in sys/syslimits.h).
#[cfg(unix)]
const OPEN_MAX: u64 = 10_240;

/// Minimum number of descriptors to answer requests: with a small repository, two readers and a few clients, 39 were open at once.
const NEEDED: u64 = 40;

/// The limit of open files is too low for the daemon to start.
#[derive(Debug, thiserror::Error)]
#[error("the limit of open files (`ulimit -n`, {limit}) is too low: the daemon needs {NEEDED}")]
pub(in crate::daemon) struct DescriptorLimitTooLow {
    limit: u64,
}

impl DescriptorLimitTooLow {
    /// Returns what the user can do about the limit.
    pub(in crate::daemon) fn hint(&self) -> &'static str {
        "raise the limit where the daemon is started, for example with `ulimit -n 1024`"
    }
}

/// Raises the limit of open files as far as the system allows.
///
/// # Errors
/// When the limit is still too low to serve requests.
pub(in crate::daemon) fn raise_and_check_limit() -> Result<(), DescriptorLimitTooLow> {
    raise_limit();
    match read_limit().filter(|limit| *limit < NEEDED) {
        Some(limit) => Err(DescriptorLimitTooLow { limit }),
        None => Ok(()),
    }
}

/// Raises the limit of open files to the hard limit.
///
/// Child processes inherit the limit; `memod extract` opens no files.
#[cfg(unix)]
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    for most in [maximum, Some(maximum.map_or(OPEN_MAX, |most| most.min(OPEN_MAX)))] {
        let is_more = current.is_some_and(|now| most.is_none_or(|most| most > now));
        if !is_more || setrlimit(Resource::Nofile, Rlimit { current: most, maximum }).is_ok() {
            return;
        }
    }
}

/// Does nothing: Windows has no limit that matters.
#[cfg(not(unix))]
fn raise_limit() {}

/// Waits after a connection could not be accepted, most likely because no descriptor was left. Returns when a connection ends,
/// which frees some, or after a short time, because no event reports that another cause is gone.
pub(in crate::daemon) async fn wait_for_descriptors(connections: &mut JoinSet<()>) {
    tokio::select! {
        Some(_) = connections.join_next() => {}
        () = tokio::time::sleep(Duration::from_millis(RETRY_AFTER_MS)) => {}
    }
}

/// Returns the limit of open files; `None` if there is no limit.
#[cfg(unix)]
fn read_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn read_limit() -> Option<u64> {
    None
}

/// Returns the maximum number of connections, which leaves a reserve for the index.
pub(in crate::daemon) fn max_connections() -> usize {
    fit_connections(read_limit(), n_processors())
}

/// Returns the maximum number of threads that read files at once.
pub(in crate::daemon) fn max_readers() -> usize {
    fit_readers(read_limit(), n_processors())
}

fn n_processors() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get)
}

/// Returns how many connections fit into a limit beside the reserve. If the limit is too low for the reserve, returns a quarter of
/// it, because a daemon without connections is useless.
fn fit_connections(limit: Option<u64>, n_processors: usize) -> usize {
    let Some(limit) = limit else { return MAX_CONNECTIONS as usize };
    // Two requests work at a time per processor.
    let n_threads = fit_readers(Some(limit), n_processors) + n_processors * 2;
    let reserve = ALWAYS_OPEN + n_threads as u64 * PER_THREAD;
    limit.saturating_sub(reserve).max(limit / 4).clamp(1, MAX_CONNECTIONS) as usize
}

/// Returns how many readers fit into a limit: at most eight, because further ones would only wait for the disk or the writer.
fn fit_readers(limit: Option<u64>, n_processors: usize) -> usize {
    let affordable = limit.map_or(u64::MAX, |limit| limit.saturating_sub(ALWAYS_OPEN) / (2 * PER_THREAD));
    (n_processors as u64).min(affordable).clamp(1, 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_keeps_what_it_needs() {
        let check = |limit: Option<u64>, n_processors: usize, expected: (usize, usize)| {
            let found = (fit_connections(limit, n_processors), fit_readers(limit, n_processors));
            assert_eq!(found, expected, "{limit:?} files, {n_processors} processors");
        };
        check(None, 2, (1_024, 2));
        check(Some(1_048_576), 64, (1_024, 8));
        check(Some(1_024), 2, (928, 2));
        check(Some(1_024), 16, (656, 8));
        check(Some(256), 8, (64, 8));
        check(Some(64), 2, (16, 1));
        check(Some(64), 64, (16, 1));
        check(Some(16), 2, (4, 1));
    }

    #[cfg(unix)]
    #[test]
    fn the_limit_is_as_high_as_it_may_be() {
        let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        raise_limit();
        let raised = read_limit();
        assert!(raised == hard || raised == Some(OPEN_MAX), "{raised:?} of {hard:?}");
        raise_limit();
        assert_eq!(read_limit(), raised, "there is nothing more to raise");
    }
}
