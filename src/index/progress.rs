//! Counts the progress and the results of a reconcile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::store::Change;
use crate::types::{Refusal, SourceKey};

/// How far a reconcile is; read by other threads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files to be read.
    pub total_files: AtomicU64,
    /// Of those, done.
    pub done_files: AtomicU64,
    /// Files extracted since the start.
    pub parses: AtomicU64,
    /// Commits to be read.
    pub total_commits: AtomicU64,
    /// Of those, done.
    pub done_commits: AtomicU64,
    /// Raised before anything is taken out of a manifest: a snapshot that may lack it is told by this.
    pub removals: AtomicU64,
    /// Set once the daemon ends: what runs stops at the next batch.
    pub cancelled: AtomicBool,
}

impl Progress {
    /// Returns whether the daemon is about to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns how many commits are done, and of how many.
    pub fn commits(&self) -> (u64, u64) {
        (self.done_commits.load(Ordering::Relaxed), self.total_commits.load(Ordering::Relaxed))
    }

    /// Begins to count files anew, of so many.
    pub(super) fn begin(&self, total_files: u64) {
        self.done_files.store(0, Ordering::Relaxed);
        self.total_files.store(total_files, Ordering::Relaxed);
    }

    /// Returns how many files are done, and of how many.
    pub fn files(&self) -> (u64, u64) {
        (self.done_files.load(Ordering::Relaxed), self.total_files.load(Ordering::Relaxed))
    }
}

/// What a reconcile did.
#[derive(Debug, Default)]
pub struct ReconcileOutcome {
    /// The view's new `seq`; `None` when nothing changed.
    pub seq: Option<u64>,
    /// Paths to be compared again.
    pub again: Vec<SourceKey>,
    /// What may have escaped it.
    pub missed: Missed,
    /// Directories that could not be listed, files of git's that could not be read.
    pub problems: Vec<String>,
    /// What could not be read this time; the manifest has of it what it had.
    pub unread: Vec<Unread>,
    /// Everything was compared.
    pub whole: bool,
}

/// A path of which, and of what is below it, nothing is known this time.
#[derive(Debug)]
pub struct Unread {
    /// The path; none for the root.
    pub key: Option<SourceKey>,
    /// What failed, with the path and the error.
    pub why: String,
}

/// Why a reconcile may not have met a file that was there all the time.
#[derive(Debug, Default)]
pub struct Missed {
    /// A path is gone, or changed faster than it can be read. What it held may be under a name by now that was not
    /// looked at.
    pub moving: Option<SourceKey>,
    /// A directory was listed. What is renamed under a listing can be missing from it, under both names.
    pub listed: bool,
    /// One of those directories changed before the last was listed: they were never all as they were met.
    pub shifted: bool,
}

impl ReconcileOutcome {
    /// Notes what is about to be taken out of the manifest.
    pub(super) fn note(&mut self, changes: &[Change], progress: &Progress) {
        let taken = changes.iter().find_map(|change| match change {
            Change::Remove { key, .. } | Change::Refuse { key, refusal: Refusal::Unreadable, .. } => {
                Some(key)
            }
            _ => None,
        });
        if let Some(key) = taken {
            progress.removals.fetch_add(1, Ordering::SeqCst);
            self.missed.moving = Some(key.clone());
        }
    }
}
