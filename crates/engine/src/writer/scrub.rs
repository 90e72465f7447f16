//! Removes contents that became secret from the files of the index and from memory.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use memod_index_db::IndexWriter;
use memod_indexing::IndexError;

use super::vector_copy::load_vectors;
use crate::engine::Engine;

/// Delay before a retry while a reader holds the log, which takes milliseconds.
const LOG_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Delay before a retry when the disk has no room for rebuilding.
const FAILURE_RETRY_DELAY: Duration = Duration::from_secs(60);

/// Scrubs the files of the index after each reconcile that purged secrets, until no trace of them is left.
#[derive(Default)]
pub(super) struct Scrubber {
    /// Time of the next attempt.
    again: Option<Instant>,
}

impl Scrubber {
    /// Waits for a job, and scrubs in the meantime. Waits without a timer if there is nothing to scrub.
    pub(super) fn wait_for_job<Job>(
        &mut self,
        engine: &Engine,
        writer: &mut IndexWriter,
        jobs: &Receiver<Job>,
    ) -> Option<Job> {
        while writer.has_leftovers() {
            let wait = self.again.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
            match jobs.recv_timeout(wait) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.scrub(engine, writer),
            }
        }
        jobs.recv().ok()
    }

    /// Scrubs the index if necessary, unless the last attempt failed a moment ago.
    pub(super) fn scrub(&mut self, engine: &Engine, writer: &mut IndexWriter) {
        if !writer.has_leftovers() || self.again.is_some_and(|at| Instant::now() < at) {
            return;
        }
        let (began, has_purged) = (Instant::now(), writer.has_unscrubbed_pages());
        self.again = match IndexError::catch_panic(|| Ok(writer.scrub_traces()?)) {
            Ok(()) => writer.has_leftovers().then_some(LOG_RETRY_DELAY),
            Err(error) => {
                tracing::error!(%error, "secrets were deleted from the index, but traces of them may remain in its files");
                Some(FAILURE_RETRY_DELAY)
            }
        }
        .map(|after| Instant::now() + after);
        if has_purged && !writer.has_unscrubbed_pages() {
            load_vectors(engine, writer);
            engine.notify_observer(|observer| observer.secrets_purged());
            let ms = began.elapsed().as_millis();
            tracing::info!(ms, "secrets were removed from the index and its files");
        }
    }
}
