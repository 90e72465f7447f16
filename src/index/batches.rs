//! Groups changes into transactions.

use std::sync::atomic::Ordering;

use super::prepare::{Prepared, now_s};
use super::{IndexError, Progress, ReconcileOutcome};
use crate::store::{Change, Writer};
use crate::types::ViewId;

/// A transaction is closed after so many changes …
pub(super) const CHANGES: usize = 512;
/// … or so many bytes of new content.
const BYTES: u64 = 8 << 20;

/// Collects changes of one view into transactions.
pub(super) struct Batches<'a> {
    writer: &'a mut Writer,
    view: ViewId,
    progress: &'a Progress,
    outcome: &'a mut ReconcileOutcome,
    changes: Vec<Change>,
    bytes: u64,
}

impl<'a> Batches<'a> {
    pub(super) fn new(
        writer: &'a mut Writer,
        view: ViewId,
        progress: &'a Progress,
        outcome: &'a mut ReconcileOutcome,
    ) -> Self {
        Self { writer, view, progress, outcome, changes: Vec::new(), bytes: 0 }
    }

    /// Takes what is to become of a file, and writes when there is enough.
    pub(super) fn push(&mut self, prepared: Prepared) -> Result<(), IndexError> {
        let Prepared::Change(change) = prepared else {
            self.progress.done_files.fetch_add(1, Ordering::Relaxed);
            if let Prepared::Unread(unread) = prepared {
                self.outcome.unread.push(unread);
            }
            return Ok(());
        };
        if let Change::Put { blob: Some(blob), .. } = &change {
            self.bytes += blob.size;
            self.progress.parses.fetch_add(1, Ordering::Relaxed);
        }
        self.changes.push(change);
        if self.changes.len() >= CHANGES || self.bytes >= BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if self.progress.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        self.outcome.note(&self.changes, self.progress);
        let (seq, again) = self.writer.apply(self.view, &self.changes, now_s())?;
        self.progress.done_files.fetch_add(self.changes.len() as u64, Ordering::Relaxed);
        self.outcome.seq = Some(seq);
        self.outcome.again.extend(again);
        self.changes.clear();
        self.bytes = 0;
        Ok(())
    }
}
