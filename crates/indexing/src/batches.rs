//! Groups changes into transactions.

use std::sync::atomic::Ordering;

use memod_base::types::SourceKey;
use memod_index_db::ManifestChange;

use super::prepare::PreparedFile;
use super::{IndexError, Progress, ReconcileOutcome, WalkProgress};

/// Most changes of a transaction.
const MAX_CHANGES: usize = 512;
/// Number of bytes of new content from which on a transaction is written.
const MAX_BYTES: u64 = 8 << 20;

/// Writes changes of one worktree in one transaction.
///
/// An error ends the reconcile; earlier batches stay written.
pub type ApplyChanges<'a> = dyn FnMut(Vec<ManifestChange>) -> Result<AppliedChanges, IndexError> + 'a;

/// The new `seq` of the worktree, and the paths to read again; see
/// [`IndexWriter::apply_changes`](memod_index_db::IndexWriter::apply_changes).
pub type AppliedChanges = (u64, Vec<SourceKey>);

/// Collects changes of one worktree into transactions.
pub(super) struct Batches<'a> {
    apply: &'a mut ApplyChanges<'a>,
    progress: &'a Progress,
    walk: &'a WalkProgress,
    pub(super) outcome: ReconcileOutcome,
    changes: Vec<ManifestChange>,
    bytes: u64,
}

impl<'a> Batches<'a> {
    pub(super) fn new(
        apply: &'a mut ApplyChanges<'a>,
        progress: &'a Progress,
        walk: &'a WalkProgress,
        outcome: ReconcileOutcome,
    ) -> Self {
        Self { apply, progress, walk, outcome, changes: Vec::new(), bytes: 0 }
    }

    /// Adds a prepared file, and writes the batch if it is full.
    pub(super) fn add_prepared(&mut self, prepared: PreparedFile) -> Result<(), IndexError> {
        let PreparedFile::Change(change) = prepared else {
            self.walk.add_done_files(1);
            if let PreparedFile::Unread(unread) = prepared {
                self.outcome.unread.push(unread);
            }
            return Ok(());
        };
        if let ManifestChange::Put { blob: Some(blob), .. } = &change {
            self.bytes += blob.size;
            self.progress.parses.fetch_add(1, Ordering::Relaxed);
        }
        self.changes.push(change);
        if self.changes.len() >= MAX_CHANGES || self.bytes >= MAX_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds changes that need no reading, and writes everything.
    pub(super) fn add_and_flush(
        &mut self,
        changes: impl Iterator<Item = ManifestChange>,
    ) -> Result<(), IndexError> {
        changes.map(PreparedFile::Change).try_for_each(|change| {
            self.walk.count_handled_file(0);
            self.add_prepared(change)
        })?;
        self.flush()
    }

    /// Writes the collected changes, if there are any.
    pub(super) fn flush(&mut self) -> Result<(), IndexError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if self.progress.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        let changes = std::mem::take(&mut self.changes);
        self.outcome.record_removals(&changes, self.walk);
        self.bytes = 0;
        let n_changes = changes.len() as u64;
        let (seq, again) = (self.apply)(changes)?;
        self.walk.add_done_files(n_changes);
        self.outcome.seq = Some(seq);
        self.outcome.again.extend(again);
        Ok(())
    }
}
