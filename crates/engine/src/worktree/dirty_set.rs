//! Tracks the paths that may differ from the index, and when they are compared.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use memod_base::types::SourceKey;
use memod_indexing::ReconcileScope;
use memod_watch::Debouncer;

use crate::messages::disk_task::ReconcileRequest;

/// Number of dirty paths above which a walk is cheaper.
const MOST_DIRTY: usize = 5_000;
/// Longest time for which git's own lock delays indexing.
const LOCK_HOLD: Duration = Duration::from_secs(10);
/// The shortest and the longest delay between two walks that no request waits for.
pub(super) const RESCAN_DELAYS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// The paths that may differ from the index, and when they are due.
pub(super) struct DirtySet {
    paths: BTreeSet<SourceKey>,
    /// Any path may differ, so a walk is needed.
    all: bool,
    git_changed: bool,
    debouncer: Debouncer,
    git_lock: Option<Instant>,
    /// Earliest time of a walk, or of a reconcile after a failure, that no request waits for.
    not_before: Option<Instant>,
    /// Delay after the last walk.
    gap: Duration,
    /// Delay until unreadable files are tried again without a request.
    unread_gap: Duration,
}

impl DirtySet {
    /// Returns the set of a worktree that has not been compared yet.
    pub(super) fn new(debouncer: Debouncer) -> Self {
        Self {
            paths: BTreeSet::new(),
            all: true,
            git_changed: false,
            debouncer,
            git_lock: None,
            not_before: None,
            gap: RESCAN_DELAYS.0,
            unread_gap: RESCAN_DELAYS.0,
        }
    }

    /// Adds a path that a request found to differ, without a delay for further changes.
    pub(super) fn insert(&mut self, key: SourceKey) {
        self.paths.insert(key);
    }

    /// Adds a path that has just changed.
    pub(super) fn mark_path(&mut self, key: SourceKey, now: Instant) {
        self.paths.insert(key);
        self.debouncer.record_change(now);
    }

    /// Returns whether a walk is cheaper than comparing the paths one by one.
    pub(super) fn has_too_many_paths(&self) -> bool {
        self.paths.len() > MOST_DIRTY
    }

    /// Records that any path may have changed.
    pub(super) fn mark_all(&mut self, now: Instant) {
        self.all = true;
        self.paths.clear();
        self.debouncer.record_change(now);
    }

    /// Makes the next reconcile a walk, without a delay, because a request waits for it.
    pub(super) fn need_walk(&mut self) {
        self.all = true;
    }

    /// Records that git has just written its index or settings.
    pub(super) fn mark_git_changed(&mut self, now: Instant) {
        self.git_changed = true;
        self.debouncer.record_change(now);
    }

    /// Records whether git holds its index lock.
    pub(super) fn set_git_lock(&mut self, is_held: bool, now: Instant) {
        self.git_lock = is_held.then(|| self.git_lock.unwrap_or(now));
    }

    /// Returns whether no path is known to differ.
    pub(super) fn is_empty(&self) -> bool {
        !self.all && !self.git_changed && self.paths.is_empty()
    }

    /// Returns the number of paths that are known to differ.
    pub(super) fn n_paths(&self) -> usize {
        self.paths.len()
    }

    /// Empties the set, and returns the request for a reconcile of its paths.
    pub(super) fn take_request(&mut self) -> ReconcileRequest {
        self.debouncer.end_burst();
        let paths = std::mem::take(&mut self.paths);
        let scope =
            if std::mem::take(&mut self.all) { ReconcileScope::Full } else { ReconcileScope::Paths(paths) };
        ReconcileRequest { scope, git_changed: std::mem::take(&mut self.git_changed) }
    }

    /// Returns the time of the next reconcile if no request waits for it. After a failure there is a delay.
    pub(super) fn due_at(&self, now: Instant, has_failed: bool) -> Instant {
        let settled = self.debouncer.due().unwrap_or(now);
        let lock_over = self.git_lock.map_or(settled, |since| since + LOCK_HOLD);
        let not_before = self.not_before.filter(|_| self.all || has_failed).unwrap_or(settled);
        settled.max(lock_over).max(not_before)
    }

    /// Records the end of a walk. Each walk that follows soon after another doubles the delay until the next.
    pub(super) fn record_walk_end(&mut self, now: Instant) {
        let soon = self.not_before.is_some_and(|at| at + RESCAN_DELAYS.1 > now);
        self.gap = if soon { (self.gap * 2).min(RESCAN_DELAYS.1) } else { RESCAN_DELAYS.0 };
        self.not_before = Some(now + self.gap);
    }

    /// Records that a reconcile failed; a walk will repeat its work.
    pub(super) fn record_failure(&mut self, now: Instant) {
        self.all = true;
        self.not_before = Some(now + self.gap);
        self.debouncer.record_change(now);
    }

    /// Records that some files could not be read. Each failure in a row doubles the delay until the next attempt.
    pub(super) fn record_unread(&mut self, now: Instant) {
        self.not_before = Some(now + self.unread_gap);
        self.unread_gap = (self.unread_gap * 2).min(RESCAN_DELAYS.1);
    }

    /// Records that all compared files could be read.
    pub(super) fn record_all_read(&mut self) {
        self.unread_gap = RESCAN_DELAYS.0;
    }

    /// Lets the next walk begin as soon as no more events come.
    pub(super) fn clear_delay(&mut self) {
        self.not_before = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn quiet(now: Instant) -> DirtySet {
        let mut dirty = DirtySet::new(Debouncer::new(50 * MS, 500 * MS));
        assert_eq!(dirty.take_request().scope, ReconcileScope::Full, "nothing was compared yet");
        assert!(dirty.is_empty() && dirty.due_at(now, false) == now);
        dirty
    }

    #[test]
    fn many_paths_are_a_walk() {
        let now = Instant::now();
        let mut dirty = quiet(now);
        for number in 0..=MOST_DIRTY {
            assert!(!dirty.has_too_many_paths());
            dirty.mark_path(SourceKey::new(format!("f{number}")), now);
        }
        assert!(dirty.has_too_many_paths());
        dirty.mark_all(now);
        assert_eq!((dirty.n_paths(), dirty.take_request().scope), (0, ReconcileScope::Full));
    }

    #[test]
    fn what_cannot_be_read_is_tried_less_and_less_often() {
        let mut now = Instant::now();
        let mut dirty = quiet(now);
        for gap in [2, 4, 8, 16, 30, 30] {
            dirty.record_unread(now);
            dirty.mark_path(SourceKey::new("a"), now);
            assert_eq!(dirty.due_at(now, true), now + Duration::from_secs(gap));
            now += Duration::from_secs(gap);
            dirty.take_request();
        }
        dirty.record_all_read();
        dirty.record_unread(now);
        assert_eq!(dirty.due_at(now, true), now + RESCAN_DELAYS.0);
    }

    #[test]
    fn the_lock_of_git_delays_and_its_end_does_not() {
        let now = Instant::now();
        let mut dirty = quiet(now);
        dirty.mark_git_changed(now);
        dirty.set_git_lock(true, now);
        dirty.set_git_lock(true, now + 9 * MS);
        assert_eq!(dirty.due_at(now, false), now + LOCK_HOLD, "counted from the first");
        dirty.set_git_lock(false, now);
        assert_eq!(dirty.due_at(now, false), now + 50 * MS);
        assert!(dirty.take_request().git_changed);
    }

    #[test]
    fn walks_that_follow_each_other_are_further_and_further_apart() {
        let mut now = Instant::now();
        let mut dirty = quiet(now);
        for gap in [2, 4, 8, 16, 30, 30] {
            dirty.record_walk_end(now);
            dirty.mark_all(now);
            assert_eq!(dirty.due_at(now, false), now + Duration::from_secs(gap));
            now += Duration::from_secs(gap);
            dirty.take_request();
        }
        dirty.record_walk_end(now);
        dirty.mark_path(SourceKey::new("a"), now);
        assert_eq!(dirty.due_at(now, false), now + 50 * MS, "paths need no walk");
        assert_eq!(dirty.due_at(now, true), now + RESCAN_DELAYS.1, "unless the last reconcile failed");
        dirty.clear_delay();
        assert_eq!(dirty.due_at(now, true), now + 50 * MS);
    }
}
