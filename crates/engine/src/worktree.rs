//! Tracks which paths of one worktree may differ from the index.
//!
//! A worktree is fresh for a request once a cookie made after the request has come back as an event, and every
//! path that was dirty then has been indexed. `dirty_set` holds the paths that may differ from the index and when they are
//! compared, `reconcile_counter` numbers the reconciles, `watch_health` tracks whether events can be trusted, `probe` and
//! `waiting_requests` hold the waiting requests, `commit_rounds` tracks how much of the history is read, and `freshness_replies`
//! answers requests.
//!
//! Invariant: nothing here accesses a file system. The worktree's own thread does, and its results come back as events.

mod commit_rounds;
mod dirty_set;
mod freshness_replies;
mod path_keys;
mod probe;
mod reconcile_counter;
mod waiting_requests;
mod watch_health;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use self::commit_rounds::CommitsState;
use self::dirty_set::DirtySet;
use self::probe::ProbeQueue;
use self::reconcile_counter::ReconcileCounter;
use memod_base::paths::RepoLayout;
use memod_base::types::{SourceKey, WorktreeId};
use memod_index_db::WorktreeRow;
use memod_proto::{FreshnessLevel, ViewInfo};
use memod_watch::{Debouncer, N_COOKIES};

use self::waiting_requests::Waiter;
use self::watch_health::WatchHealth;
use super::freshness::WorktreeReport;
use crate::file_access::disk_reads::stuck_path_message;
use crate::messages::disk_task::{DiskTask, ReconcileThreadHandle, ThreadNumber};
use memod_indexing::{ReconcileOutcome, ReconcileScope, UnreadPath};

/// Name of the entry that makes a directory the top of a repository.
pub(super) const DOT_GIT: &str = ".git";

/// The state of one worktree that is served.
pub(super) struct WorktreeState {
    pub(super) id: WorktreeId,
    pub(super) layout: RepoLayout,
    pub(super) head: Option<String>,
    pub(super) seq: u64,
    /// Whether a walk of this process has succeeded since the index was last emptied.
    pub(super) complete: bool,
    /// Whether a walk has ever succeeded, possibly in an earlier process.
    built: bool,
    /// Number of pending requests to empty the index.
    n_clears: u32,
    /// Why the last reconcile failed.
    pub(super) error: Option<String>,
    /// Which files of the worktree or of git could not be read, and why.
    files_note: Option<String>,
    /// Ignore files outside the worktree: the user's, and `info/exclude`.
    exclude_files: Vec<PathBuf>,
    dirty: DirtySet,
    reconciles: ReconcileCounter,
    watch: WatchHealth,
    probes: ProbeQueue,
    waiters: Vec<Waiter>,
    /// Which commits the index holds.
    pub(super) commits: CommitsState,
    /// The thread that accesses the file system of the worktree.
    pub(super) thread: ThreadNumber,
    disk: Sender<DiskTask>,
    reconciler: ReconcileThreadHandle,
}

/// Delay after a failed round of embedding until a request causes a retry.
const EMBED_RETRY_DELAY: Duration = Duration::from_secs(2);

/// The rounds of embedding that were requested and that have ended, numbered from 1.
#[derive(Debug, Default)]
pub(super) struct EmbeddingRounds {
    pub(super) asked: u64,
    pub(super) done: u64,
    /// Why the last round left texts without vectors.
    pub(super) error: Option<String>,
    ended_at: Option<Instant>,
}

impl EmbeddingRounds {
    /// Records how a round ended; `error` is why texts lack vectors.
    pub(super) fn end_round(&mut self, round: u64, error: Option<String>, now: Instant) {
        (self.done, self.error, self.ended_at) = (round, error, Some(now));
    }

    /// Returns whether the last round failed and a request of this level makes the next round due now. After a failure there is a
    /// delay, unless the request waits for embeddings.
    pub(super) fn is_retry_due(&self, level: FreshnessLevel, now: Instant) -> bool {
        let is_due = self.ended_at.is_none_or(|at| now >= at + EMBED_RETRY_DELAY);
        self.error.is_some() && self.done == self.asked && (level == FreshnessLevel::Full || is_due)
    }
}

impl WorktreeState {
    /// Returns the state of a worktree whose manifest has not been compared with the disk yet.
    pub(super) fn new(
        row: &WorktreeRow,
        layout: RepoLayout,
        debouncer: Debouncer,
        (thread, disk, walker): (ThreadNumber, Sender<DiskTask>, ReconcileThreadHandle),
    ) -> Self {
        Self {
            id: row.id,
            head: row.head.clone(),
            seq: row.seq,
            complete: false,
            built: row.complete,
            n_clears: 0,
            error: None,
            files_note: None,
            exclude_files: Vec::new(),
            dirty: DirtySet::new(debouncer),
            reconciles: ReconcileCounter::default(),
            watch: WatchHealth::new(),
            probes: ProbeQueue::new(N_COOKIES),
            waiters: Vec::new(),
            commits: CommitsState::new(layout.git_dir.is_some()),
            thread,
            disk,
            reconciler: walker,
            layout,
        }
    }

    /// Sends a task to the worktree's thread; the result comes back as an event.
    pub(super) fn send_task(&self, task: DiskTask) {
        let _ = self.disk.send(task); // the end of that thread is an event of its own
    }

    /// Records that a path may differ from the index.
    pub(super) fn mark_dirty(&mut self, key: SourceKey, now: Instant) {
        self.dirty.mark_path(key, now);
        if self.dirty.has_too_many_paths() {
            self.mark_all_dirty(now);
        }
    }

    /// Records that any path may differ from the index. The walk that follows replaces a pending cookie. The event of a late cookie
    /// may have been lost, so the watcher is trusted again.
    pub(super) fn mark_all_dirty(&mut self, now: Instant) {
        self.dirty.mark_all(now);
        self.watch.forget_late_cookie();
        self.probes.mark_served_by_walk();
        self.continue_probed_requests();
    }

    /// Records that some directory is not watched. Its changes cause no events, so every request waits for a walk that begins
    /// from now on. `why` explains the cause and the remedy to the user.
    pub(super) fn mark_unwatched(&mut self, why: Option<String>) {
        if self.watch.mark_unwatched(why) {
            self.postpone_waiters();
            self.dirty.need_walk();
            self.continue_probed_requests();
        }
    }

    /// Makes every request compare the worktree with the index. `why` is the reason for the user; `None` if the settings say so.
    pub(super) fn poll_always(&mut self, why: Option<String>) {
        self.mark_unwatched(why);
        self.watch.poll_always();
    }

    /// Watches git's directories again after a walk that could watch all others, if that would make the watcher reliable.
    pub(super) fn recover_watch(&self) {
        if let Some(recovery) = self.watch.recovery_token() {
            self.send_task(DiskTask::WatchGitDirs { recovery: Some(recovery) });
        }
    }

    /// Records that every directory is watched again, unless a watch was lost since the token `recovery` was returned.
    pub(super) fn mark_all_watched(&mut self, recovery: u64) {
        self.watch.mark_all_watched(recovery);
    }

    /// Marks the paths dirty that the reconcile that ends now could not handle, and lets requests wait for the next one.
    pub(super) fn retry_paths(&mut self, keys: Vec<SourceKey>, now: Instant) {
        if !keys.is_empty() {
            keys.into_iter().for_each(|key| self.mark_dirty(key, now));
            self.postpone_waiters();
        }
    }

    /// Records that git wrote its index or settings. The next reconcile compares everything if that changed the set of files.
    pub(super) fn mark_git_changed(&mut self, now: Instant) {
        self.dirty.mark_git_changed(now);
    }

    /// Records that the index is about to be emptied: nothing is fresh from now on.
    pub(super) fn begin_clear(&mut self) {
        (self.complete, self.built) = (false, false);
        self.n_clears += 1;
        self.commits.forget_indexed();
    }

    /// Records that the index was emptied: everything is compared again, as at the start.
    pub(super) fn end_clear(&mut self, now: Instant) {
        self.complete = false;
        self.n_clears = self.n_clears.saturating_sub(1);
        self.dirty.clear_delay();
        self.commits.forget_indexed();
        self.mark_all_dirty(now);
    }

    /// Records whether git holds its index lock.
    pub(super) fn set_git_lock(&mut self, is_held: bool, now: Instant) {
        self.dirty.set_git_lock(is_held, now);
    }

    /// Returns whether no known change is missing from the index.
    fn is_current(&self) -> bool {
        let is_quiet = !self.is_dirty() && !self.reconciles.is_running();
        let holds_all = is_quiet && self.commits.is_current();
        self.complete && holds_all && self.watch.is_reliable() && self.error.is_none()
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Starts the next reconcile if it is due; returns its scope.
    pub(super) fn start_reconcile(&mut self, now: Instant) -> Option<ReconcileScope> {
        if self.reconciles.is_running() || !self.is_dirty() || self.reconcile_due_at(now) > now {
            return None;
        }
        self.reconciles.record_start(self.reconciler.progress.n_removals());
        self.reconciler.progress.begin_listing(); // until the thread begins, the figures are those of the last reconcile
        let due = self.dirty.take_request();
        let scope = due.scope.clone();
        let _ = self.reconciler.due.send(due); // the end of that thread is an event of its own
        Some(scope)
    }

    /// Starts the next round of reading commits if one is due, and returns its tip. Files have priority: no round starts before the
    /// first walk has succeeded.
    pub(super) fn start_commits(&mut self) -> Option<memod_git::Tip> {
        if self.complete { self.commits.start_round() } else { None }
    }

    /// Returns when the next reconcile of the dirty set is due.
    fn reconcile_due_at(&self, now: Instant) -> Instant {
        let next = self.reconciles.next_number();
        if self.waiters.iter().any(|waiter| waiter.reconcile >= next) || self.reconciles.has_never_started() {
            return now;
        }
        self.dirty.due_at(now, self.error.is_some())
    }

    /// Records the end of a reconcile. After a failure, a walk repeats its work.
    pub(super) fn end_reconcile(&mut self, scope: &ReconcileScope, failed: Option<String>, now: Instant) {
        self.reconciles.record_end();
        if *scope == ReconcileScope::Full {
            self.dirty.record_walk_end(now);
            // A walk that ends before the index is emptied does not count afterwards.
            self.complete |= failed.is_none() && self.n_clears == 0;
        }
        if failed.is_some() {
            self.dirty.record_failure(now);
        }
        self.error = failed;
    }

    /// Records the end of a reconcile whose result was refused because the index was emptied.
    pub(super) fn end_outdated_reconcile(&mut self, now: Instant) {
        self.reconciles.record_end();
        self.dirty.record_walk_end(now);
        self.mark_all_dirty(now);
        self.postpone_waiters();
    }

    /// Records the paths that a successful reconcile could not read. They are tried again for each request, and now and then
    /// without one. The worktree is not fresh until they can all be read.
    pub(super) fn record_unread(&mut self, unread: Vec<UnreadPath>, now: Instant) {
        let Some(first) = unread.first() else { return self.dirty.record_all_read() };
        let why = append_n_others(&first.why, unread.len() - 1);
        tracing::warn!(root = %self.layout.root.display(), why, "some paths could not be read; trying again");
        self.error = Some(why);
        self.dirty.record_unread(now);
        for UnreadPath { key, .. } in unread {
            match key {
                Some(key) => self.mark_dirty(key, now),
                None => self.mark_all_dirty(now),
            }
        }
    }

    /// Returns the time when the main loop must act although no event comes; `None` if nothing is pending.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let is_to_start = self.is_dirty() && !self.reconciles.is_running();
        let start = is_to_start.then(|| self.reconcile_due_at(now));
        let waits = self.waiters.iter().map(|waiter| waiter.request.deadline);
        waits.chain(start).chain(self.probes.deadline()).min()
    }

    /// Records which paths could not be read. Only a full walk shows that everything can be read. It is requested once a directory
    /// could be listed, which may be the one that failed before.
    pub(super) fn record_problems(&mut self, outcome: &ReconcileOutcome, now: Instant) {
        if let Some((first, others)) = outcome.problems.split_first() {
            let log = if others.is_empty() { "" } else { ", see the log" };
            self.files_note = Some(append_n_others(first, others.len()) + log);
        } else if outcome.whole {
            self.files_note = None;
        } else if self.files_note.is_some() && outcome.missed.listed {
            self.mark_all_dirty(now);
        }
    }

    /// Returns the report for `status`.
    pub(super) fn build_report(&self) -> WorktreeReport {
        let info = ViewInfo {
            root: self.layout.root.display().to_string(),
            head: self.head.clone(),
            polled: !self.watch.is_reliable(),
            files: 0, // counted by the receiver
            commits: 0,
            older_commits: self.commits.has_older,
            seq: self.seq,
            fresh: self.is_current(),
        };
        WorktreeReport { worktree: self.id, info, degraded: self.degradations() }
    }

    /// Returns the degradations with their remedies.
    fn degradations(&self) -> Vec<String> {
        let root = self.layout.root.display();
        let behind = self.error.iter().map(|why| format!("index: {root}: {why}"));
        let files = self.files_note.iter().map(|why| format!("files: {root}: {why}"));
        let slow = self.find_stuck_path().map(|place| format!("files: {}", stuck_path_message(&place)));
        let commits = self.commits.missing_note().map(|why| format!("commits: {root}: {why}"));
        let watch = self.watch.degradations(&self.layout.root);
        behind.chain(files).chain(slow).chain(commits).chain(watch).collect()
    }
}

/// Returns a reason, and how many more there are.
fn append_n_others(first: &str, n_others: usize) -> String {
    match n_others {
        0 => first.to_owned(),
        n_others => format!("{first}, and {n_others} more"),
    }
}

#[cfg(test)]
mod tests;
