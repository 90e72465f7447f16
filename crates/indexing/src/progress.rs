//! Counts the progress and the results of a reconcile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_base::types::{ReadRefusal, SourceKey};
use memod_index_db::ManifestChange;

/// Counters that all worktrees share; read by other threads.
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of contents extracted since the daemon started.
    pub parses: AtomicU64,
    /// Number of commits that the present round reads.
    pub(crate) total_commits: AtomicU64,
    /// Number of these commits that are done.
    pub(crate) done_commits: AtomicU64,
    /// Set once the daemon is stopping; running work ends at the next batch.
    pub cancelled: AtomicBool,
}

impl Progress {
    /// Returns whether the daemon is stopping.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the numbers of commits done, and of all commits to read, in the present round.
    pub fn commit_counts(&self) -> (u64, u64) {
        (self.done_commits.load(Ordering::Relaxed), self.total_commits.load(Ordering::Relaxed))
    }
}

/// Progress of the reconcile of one worktree; read by other threads.
#[derive(Debug, Default)]
pub struct WalkProgress {
    total_files: AtomicU64,
    done_files: AtomicU64,
    found_files: AtomicU64,
    handled_files: AtomicU64,
    total_bytes: AtomicU64,
    read_bytes: AtomicU64,
    removals: AtomicU64,
    accesses: Mutex<PathAccesses>,
}

/// How far a running reconcile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconcilePhase {
    /// The reconcile lists files.
    Listing {
        /// Number of files found so far.
        n_found: u64,
    },
    /// The reconcile reads files that differ. A file counts as handled once it has been read, which is before it is written.
    Reading {
        /// Files handled, and all to handle.
        files: (u64, u64),
        /// Bytes read, and all to read.
        bytes: (u64, u64),
    },
}

/// The path that each thread examines, and since when.
#[derive(Debug, Default)]
struct PathAccesses {
    n_begun: u64,
    open: HashMap<u64, (Instant, PathBuf)>,
}

/// A running access to a directory or file.
pub(super) struct PathAccess<'a> {
    walk: &'a WalkProgress,
    number: u64,
}

impl WalkProgress {
    /// Resets all counters: listing files begins.
    pub fn begin_listing(&self) {
        self.begin_reading(0, 0);
        self.found_files.store(0, Ordering::Relaxed);
    }

    /// Sets the totals, and resets the counters: reading files begins.
    pub fn begin_reading(&self, total_files: u64, total_bytes: u64) {
        for counter in [&self.done_files, &self.handled_files, &self.read_bytes] {
            counter.store(0, Ordering::Relaxed);
        }
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
        self.total_files.store(total_files, Ordering::Relaxed);
    }

    /// Counts a file that was read, or need not be read, and the bytes that it had when it was listed.
    pub(super) fn count_handled_file(&self, n_bytes: u64) {
        self.read_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        self.handled_files.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how far the running reconcile is; if none runs, how far the last one was.
    pub fn current_step(&self) -> ReconcilePhase {
        let [found, files, all_files, bytes, all_bytes] =
            [&self.found_files, &self.handled_files, &self.total_files, &self.read_bytes, &self.total_bytes]
                .map(|counter| counter.load(Ordering::Relaxed));
        match all_files {
            0 => ReconcilePhase::Listing { n_found: found },
            _ => ReconcilePhase::Reading {
                files: (files.min(all_files), all_files),
                bytes: (bytes.min(all_bytes), all_bytes),
            },
        }
    }

    /// Adds to the number of files whose changes are written.
    pub fn add_done_files(&self, n_files: u64) {
        self.done_files.fetch_add(n_files, Ordering::Relaxed);
    }

    /// Returns the numbers of files whose changes are written and of all files that differ; (0, 0) while files are being listed.
    pub fn file_counts(&self) -> (u64, u64) {
        (self.done_files.load(Ordering::Relaxed), self.total_files.load(Ordering::Relaxed))
    }

    /// Returns a count that is incremented before anything is removed from the manifest. If it has changed, a later snapshot may
    /// lack a file that an earlier one had.
    pub fn n_removals(&self) -> u64 {
        self.removals.load(Ordering::SeqCst)
    }

    /// Returns the path that has been examined for this long without an answer, if any.
    pub fn find_stuck_path(&self, long: Duration) -> Option<PathBuf> {
        let accesses = lock(&self.accesses);
        let longest = accesses.open.values().min_by_key(|(since, _)| *since)?;
        (longest.0.elapsed() >= long).then(|| longest.1.clone())
    }

    /// Records an access to a path until the returned guard is dropped.
    pub(super) fn begin_access(&self, path: &Path) -> PathAccess<'_> {
        let mut accesses = lock(&self.accesses);
        accesses.n_begun += 1;
        let number = accesses.n_begun;
        accesses.open.insert(number, (Instant::now(), path.to_owned()));
        PathAccess { walk: self, number }
    }
}

impl PathAccess<'_> {
    /// Records the next path of the access.
    pub(super) fn set_path(&self, path: &Path) {
        lock(&self.walk.accesses).open.insert(self.number, (Instant::now(), path.to_owned()));
    }

    /// Counts a file that the walk has found.
    pub(super) fn count_found_file(&self) {
        self.walk.found_files.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for PathAccess<'_> {
    fn drop(&mut self) {
        lock(&self.walk.accesses).open.remove(&self.number);
    }
}

/// The result of a reconcile.
#[derive(Debug, Default)]
pub struct ReconcileOutcome {
    /// The new `seq` of the worktree; `None` when nothing changed.
    pub seq: Option<u64>,
    /// Paths that must be compared again.
    pub again: Vec<SourceKey>,
    /// Why the reconcile may have missed files.
    pub missed: MissedFiles,
    /// Directories that could not be listed, and git's files that could not be read.
    pub problems: Vec<String>,
    /// Paths that could not be read this time; their rows are unchanged.
    pub unread: Vec<UnreadPath>,
    /// Whether the whole worktree was compared.
    pub whole: bool,
}

/// A path that could not be examined, with everything below it.
#[derive(Debug)]
pub struct UnreadPath {
    /// The path; `None` for the root.
    pub key: Option<SourceKey>,
    /// The failure, with path and error.
    pub why: String,
}

/// Why a reconcile may have missed a file that existed all the time.
#[derive(Debug, Default)]
pub struct MissedFiles {
    /// A path that is gone, or changes faster than it can be read. Its content may be under another name that was not examined.
    pub moving: Option<SourceKey>,
    /// Whether a directory was listed. A file that is renamed during a listing can be missing from the listing under both names.
    pub listed: bool,
    /// Whether a listed directory changed before the last one was listed, so that the listings do not show one moment.
    pub shifted: bool,
}

impl ReconcileOutcome {
    /// Records that files are about to be removed from the manifest, if the changes remove any.
    pub(super) fn record_removals(&mut self, changes: &[ManifestChange], walk: &WalkProgress) {
        let taken = changes.iter().find_map(|change| match change {
            ManifestChange::Remove { key, .. }
            | ManifestChange::Refuse { key, refusal: ReadRefusal::Unreadable, .. } => Some(key),
            _ => None,
        });
        if let Some(key) = taken {
            walk.removals.fetch_add(1, Ordering::SeqCst);
            self.missed.moving = Some(key.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_comes_before_a_total() {
        let walk = WalkProgress::default();
        walk.begin_listing();
        let access = walk.begin_access(Path::new("a"));
        access.count_found_file();
        access.count_found_file();
        assert_eq!(walk.current_step(), ReconcilePhase::Listing { n_found: 2 });
        walk.begin_reading(2, 30);
        walk.count_handled_file(10);
        assert_eq!(walk.current_step(), ReconcilePhase::Reading { files: (1, 2), bytes: (10, 30) });
        walk.begin_listing();
        assert_eq!(walk.current_step(), ReconcilePhase::Listing { n_found: 0 });
    }

    #[test]
    fn the_look_that_takes_longest_is_named() {
        let walk = WalkProgress::default();
        assert_eq!(walk.find_stuck_path(Duration::ZERO), None);
        let (first, second) = (walk.begin_access(Path::new("a")), walk.begin_access(Path::new("b")));
        assert_eq!(walk.find_stuck_path(Duration::ZERO), Some("a".into()));
        first.set_path(Path::new("c"));
        assert_eq!(walk.find_stuck_path(Duration::ZERO), Some("b".into()), "the other goes on");
        drop(second);
        assert_eq!(walk.find_stuck_path(Duration::ZERO), Some("c".into()));
        assert_eq!(walk.find_stuck_path(Duration::from_secs(60)), None);
        drop(first);
        assert_eq!(walk.find_stuck_path(Duration::ZERO), None);
    }
}
