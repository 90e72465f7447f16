//! Runs the thread that owns memory.db.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::finder::Finder;
use crate::daemon::clock::now_ms;
use crate::store::{MemoryStore, StoreError};

/// Shortest time between two copies: so much can be lost when the file is deleted while no daemon runs.
const COPY_AGAIN: Duration = Duration::from_secs(600);
/// Making copies takes at most this part of the time.
const COPY_SHARE: u32 = 100;

/// What the thread is asked for.
pub(super) enum Job {
    Run(Box<dyn FnOnce(&mut MemoryStore) + Send>),
    Stop,
}

/// Runs jobs until the last; a copy is made when there is nothing else to do, lest somebody waits for it.
pub(super) fn keep(mut store: MemoryStore, finder: &Finder, queue: &Receiver<Job>) {
    let mut not_before: Option<Instant> = None;
    let _ = store.open_now(now_ms()).inspect_err(|error| tracing::error!(%error, "memories"));
    finder.follow(&mut store);
    loop {
        let job = match queue.recv_timeout(Duration::ZERO) {
            Err(RecvTimeoutError::Timeout) => {
                if store.embed_some(now_ms()).inspect_err(warn_of_vectors).unwrap_or(false) {
                    finder.follow(&mut store);
                    continue;
                }
                if not_before.is_none_or(|at| at <= Instant::now()) {
                    let started = Instant::now();
                    if store.back_up(now_ms()).inspect_err(warn_of_copy).unwrap_or(true) {
                        not_before = Some(Instant::now() + COPY_AGAIN.max(started.elapsed() * COPY_SHARE));
                    }
                }
                queue.recv().ok()
            }
            received => received.ok(),
        };
        match job {
            Some(Job::Run(job)) => {
                // Whoever asked is told by the end of its channel; the hook has put the panic into the log.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&mut store)));
            }
            Some(Job::Stop) | None => break,
        }
    }
    finder.close();
    let _ = store.close(now_ms()).inspect_err(warn_of_copy);
}

fn warn_of_vectors(error: &StoreError) {
    tracing::warn!(%error, "vectors of memories could not be kept");
}

fn warn_of_copy(error: &StoreError) {
    tracing::warn!(%error, "no copy of the memories could be made");
}
