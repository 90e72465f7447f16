//! Removes what became a secret from the files of the state dir, and from memory.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::index_file::remove_damaged;
use super::shared::Shared;
use super::vectors::load_vectors;
use crate::index::Indexer;

/// A reader that keeps the log is done in milliseconds.
const LOG_AGAIN: Duration = Duration::from_millis(100);
/// What cannot be rebuilt for lack of room is tried again.
const FAILED_AGAIN: Duration = Duration::from_secs(60);

/// Scrubs the index after each reconcile that purged something, and until all of it is gone.
#[derive(Default)]
pub(super) struct Scrubber {
    /// When it may be tried again.
    again: Option<Instant>,
}

impl Scrubber {
    /// Waits for a job, and scrubs meanwhile. With nothing to scrub it waits without a timer.
    pub(super) fn next_job<Job>(
        &mut self,
        shared: &Shared,
        indexer: &mut Indexer,
        jobs: &Receiver<Job>,
    ) -> Option<Job> {
        while indexer.writer().has_leftovers() {
            let wait = self.again.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
            match jobs.recv_timeout(wait) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.scrub(shared, indexer),
            }
        }
        jobs.recv().ok()
    }

    /// Scrubs the index, if there is something and it has not failed a moment ago.
    pub(super) fn scrub(&mut self, shared: &Shared, indexer: &mut Indexer) {
        let writer = indexer.writer();
        if !writer.has_leftovers() || self.again.is_some_and(|at| Instant::now() < at) {
            return;
        }
        let (began, has_purged) = (Instant::now(), writer.has_purged());
        self.again = match writer.scrub() {
            Ok(()) => writer.has_leftovers().then_some(LOG_AGAIN),
            Err(error) => {
                tracing::error!(%error, "what became a secret is out of the index, but may be left in its file");
                Some(FAILED_AGAIN)
            }
        }
        .map(|after| Instant::now() + after);
        if has_purged && !writer.has_purged() {
            drop(writer.take_added()); // they are loaded with the others
            load_vectors(shared);
            remove_damaged(&shared.index_db);
            let ms = began.elapsed().as_millis();
            tracing::info!(ms, "what became a secret is gone from the index");
        }
    }
}
