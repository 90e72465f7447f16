//! Tracks which paths of one worktree may differ from the index.
//!
//! A view is fresh for a request once a cookie made after the request has come back as an event, and every
//! path that was dirty then has been indexed (design 6). Here is what may differ from the index and when
//! it is compared; `wait` keeps those who wait for that, `reply` tells them.

mod commits;
mod layout;
mod reply;
mod wait;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::commits::CommitsState;
use self::wait::{COOKIE_TIMEOUT, Cookie, Waiter};
use super::event::{Ask, ViewReport};
use crate::git;
use crate::index::{ReconcileOutcome, Scope};
use crate::paths::RepoLayout;
use crate::proto::ViewInfo;
use crate::store::ViewRow;
use crate::types::{SourceKey, ViewId};
use crate::watch::Debouncer;

/// Over so many dirty paths one walk is cheaper.
const MOST_DIRTY: usize = 5_000;
/// How long git's own lock delays indexing.
const LOCK_HOLD: Duration = Duration::from_secs(10);
/// Between two walks that nobody waits for.
const RESCAN_GAP: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// What makes a directory the top of a repository.
pub(super) const DOT_GIT: &str = ".git";

/// One worktree.
pub(super) struct WorktreeState {
    pub(super) id: ViewId,
    pub(super) layout: RepoLayout,
    pub(super) head: Option<String>,
    pub(super) seq: u64,
    /// A walk of this process has ended well, and the index was not emptied since.
    pub(super) complete: bool,
    /// A walk has ended well some time, also of an earlier process.
    built: bool,
    /// Why the last reconcile failed.
    pub(super) error: Option<String>,
    /// What of the worktree, or of git's files, could not be read.
    files_note: Option<String>,
    /// No walk makes the watcher believed: the settings want it so, or the file system needs it.
    polls: bool,
    /// Every directory that counts is watched.
    covered: bool,
    /// Why the watcher is not believed, and the remedy.
    unwatched: Option<String>,
    /// A cookie that is late: until it comes back the watcher is not believed.
    overdue: Option<String>,
    /// How often the index is still to be emptied.
    n_clears: u32,
    dirty: BTreeSet<SourceKey>,
    rescan: bool,
    index_written: bool,
    debouncer: Debouncer,
    git_lock: Option<Instant>,
    not_before: Option<Instant>,
    gap: Duration,
    /// Reconciles are numbered from 1; the last one started and the last one ended.
    started: u64,
    ended: u64,
    /// The last one that listed directories, or met something gone: what it missed may have another name by now.
    unsteady: u64,
    /// [`Progress::removals`] when the last one started.
    pub(super) removals_at_start: u64,
    cookie: Option<Cookie>,
    queued: Vec<Ask>,
    waiters: Vec<Waiter>,
    n_cookies: u64,
    /// Ignore files outside the worktree: the user's own, and `info/exclude`.
    pub(super) excludes: Vec<PathBuf>,
    /// Its commits.
    pub(super) commits: CommitsState,
}

/// What the next reconcile must compare.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) scope: Scope,
    /// Git wrote its index or settings: what counts may be something else now.
    pub(super) git_changed: bool,
}

/// Rounds of embedding, numbered from 1.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) asked: u64,
    pub(super) done: u64,
    /// Why the last one left something without its vector.
    pub(super) error: Option<String>,
}

impl WorktreeState {
    /// Makes the state of a view whose manifest has yet to be compared with the disk.
    pub(super) fn new(
        row: &ViewRow,
        layout: RepoLayout,
        debouncer: Debouncer,
        object_hash: git::ObjectHash,
    ) -> Self {
        let commits = CommitsState::new(git::Refs::new(&layout, object_hash));
        Self {
            id: row.id,
            layout,
            head: row.head.clone(),
            seq: row.seq,
            complete: false,
            built: row.complete,
            error: None,
            files_note: None,
            polls: false,
            covered: true,
            unwatched: None,
            overdue: None,
            n_clears: 0,
            dirty: BTreeSet::new(),
            rescan: true,
            index_written: false,
            debouncer,
            git_lock: None,
            not_before: None,
            gap: RESCAN_GAP.0,
            started: 0,
            removals_at_start: 0,
            ended: 0,
            unsteady: 0,
            cookie: None,
            queued: Vec::new(),
            waiters: Vec::new(),
            n_cookies: 0,
            excludes: Vec::new(),
            commits,
        }
    }

    /// Returns whether a path is an ignore file outside the worktree.
    pub(super) fn is_exclude(&self, path: &Path) -> bool {
        self.excludes.iter().any(|exclude| exclude == path)
    }

    /// Notes that a path may differ from the index.
    pub(super) fn mark_dirty(&mut self, key: SourceKey, now: Instant) {
        self.dirty.insert(key);
        self.debouncer.note_change(now);
        if self.dirty.len() > MOST_DIRTY {
            self.mark_all_dirty(now);
        }
    }

    /// Notes that anything may differ. A cookie on its way is served by the walk; the event of a late one may
    /// be among those lost, so the watcher is tried again.
    pub(super) fn mark_all_dirty(&mut self, now: Instant) {
        self.rescan = true;
        self.dirty.clear();
        self.debouncer.note_change(now);
        self.overdue = None;
        if let Some(cookie) = self.cookie.take() {
            self.await_reconcile(cookie.asks);
            self.send_cookie(now);
        }
    }

    /// Notes that some directory is not watched: what came back as an event says nothing of it, so everybody
    /// waits for a walk that begins from now on. `why` tells the user, and what to do.
    pub(super) fn mark_unwatched(&mut self, why: Option<String>) {
        if !self.polls {
            self.unwatched = why;
        }
        if std::mem::replace(&mut self.covered, false) {
            self.postpone();
            self.await_walk();
        }
    }

    /// Notes that the reconcile that ends now could not do these.
    pub(super) fn retry(&mut self, keys: Vec<SourceKey>, now: Instant) {
        if !keys.is_empty() {
            keys.into_iter().for_each(|key| self.mark_dirty(key, now));
            self.postpone();
        }
    }

    /// Notes that git wrote its index or settings: an empty reconcile finds out what that means.
    pub(super) fn mark_index_written(&mut self, now: Instant) {
        self.index_written = true;
        self.debouncer.note_change(now);
    }

    /// Notes that the index is about to be emptied: from now on nothing is fresh.
    pub(super) fn unsettle(&mut self) {
        (self.complete, self.built) = (false, false);
        self.n_clears += 1;
        self.commits.restart();
    }

    /// Notes that the index was emptied: everything is compared again, as at the start.
    pub(super) fn restart(&mut self, now: Instant) {
        self.complete = false;
        self.n_clears = self.n_clears.saturating_sub(1);
        self.not_before = None;
        self.commits.restart();
        self.mark_all_dirty(now);
    }

    /// Notes whether git holds its index lock.
    pub(super) fn git_lock(&mut self, held: bool, now: Instant) {
        self.git_lock = held.then(|| self.git_lock.unwrap_or(now));
    }

    /// Returns whether the watcher covers everything and answers cookies.
    fn is_watched(&self) -> bool {
        self.covered && self.overdue.is_none()
    }

    /// Returns whether nothing is known that the index does not hold.
    fn is_current(&self) -> bool {
        let is_quiet = !self.is_dirty() && !self.is_running();
        let holds_all = is_quiet && self.commits.is_current();
        self.complete && holds_all && self.is_watched() && self.error.is_none()
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.rescan || self.index_written || !self.dirty.is_empty()
    }

    fn is_running(&self) -> bool {
        self.started > self.ended
    }

    /// Returns what the next reconcile must compare, when it is time for it.
    pub(super) fn start(&mut self, now: Instant) -> Option<Due> {
        if self.is_running() || !self.is_dirty() || self.start_at(now) > now {
            return None;
        }
        self.started += 1;
        self.debouncer.clear();
        let paths = std::mem::take(&mut self.dirty);
        let scope = if std::mem::take(&mut self.rescan) { Scope::Full } else { Scope::Paths(paths) };
        Some(Due { scope, git_changed: std::mem::take(&mut self.index_written) })
    }

    /// Returns the commits to be read now; files come first.
    pub(super) fn start_commits(&mut self) -> Option<git::Tip> {
        if self.complete { self.commits.start() } else { None }
    }

    /// Returns when what is dirty is due.
    fn start_at(&self, now: Instant) -> Instant {
        let waited_for = self.waiters.iter().any(|waiter| waiter.reconcile > self.started);
        if waited_for || self.started == 0 {
            return now;
        }
        let settled = self.debouncer.due().unwrap_or(now);
        let lock_over = self.git_lock.map_or(settled, |since| since + LOCK_HOLD);
        let not_before = self.not_before.filter(|_| self.rescan || self.error.is_some()).unwrap_or(settled);
        settled.max(lock_over).max(not_before)
    }

    /// Notes how a reconcile ended. What a failed one left undone is found by a walk.
    pub(super) fn end(&mut self, scope: &Scope, failed: Option<String>, now: Instant) {
        self.ended = self.started;
        if *scope == Scope::Full {
            let soon = self.not_before.is_some_and(|at| at + RESCAN_GAP.1 > now);
            self.gap = if soon { (self.gap * 2).min(RESCAN_GAP.1) } else { RESCAN_GAP.0 };
            self.not_before = Some(now + self.gap);
            // A walk that ends before the index is emptied says nothing of it afterwards.
            self.complete |= failed.is_none() && self.n_clears == 0;
        }
        if failed.is_some() {
            self.rescan = true;
            self.not_before = Some(now + self.gap);
            self.debouncer.note_change(now);
        }
        self.error = failed;
    }

    /// Notes that the worktree is to be compared for every question. `why` is for the user who did not want it so.
    pub(super) fn poll(&mut self, why: Option<String>) {
        self.mark_unwatched(why);
        self.polls = true;
    }

    /// Notes that a walk could watch every directory.
    pub(super) fn cover(&mut self) {
        (self.covered, self.unwatched) = (true, None);
    }

    /// Returns whether the watcher may be believed again once a walk could watch every directory.
    pub(super) fn may_be_covered(&self) -> bool {
        !self.covered && !self.polls
    }

    /// Returns when something must happen even if no event comes; `None`: nothing is pending.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let start = (self.is_dirty() && !self.is_running()).then(|| self.start_at(now));
        let cookie = self.cookie.as_ref().map(|cookie| cookie.made_at + COOKIE_TIMEOUT);
        let asks = self.cookie.iter().flat_map(|cookie| &cookie.asks).chain(&self.queued);
        let waits = self.waiters.iter().map(|waiter| waiter.ask.deadline).chain(asks.map(|ask| ask.deadline));
        waits.chain(start).chain(cookie).min()
    }

    /// Takes what could not be read. Only a whole walk tells that all could; one is asked for when a directory could
    /// be listed, for it may be the one that could not.
    pub(super) fn note_problems(&mut self, outcome: &ReconcileOutcome, now: Instant) {
        if let Some((first, others)) = outcome.problems.split_first() {
            let others = match others.len() {
                0 => String::new(),
                others => format!(", and {others} more, see the log"),
            };
            self.files_note = Some(format!("{first}{others}"));
        } else if outcome.whole {
            self.files_note = None;
        } else if self.files_note.is_some() && outcome.missed.listed {
            self.mark_all_dirty(now);
        }
    }

    /// Returns what `status` shows.
    pub(super) fn report(&self) -> ViewReport {
        let info = ViewInfo {
            root: self.layout.root.display().to_string(),
            head: self.head.clone(),
            polled: !self.is_watched(),
            files: 0, // counted by who asks
            commits: 0,
            seq: self.seq,
            fresh: self.is_current(),
        };
        ViewReport { view: self.id, info, degraded: self.degraded() }
    }

    /// Returns what does not work, each with its remedy.
    fn degraded(&self) -> Vec<String> {
        let root = self.layout.root.display();
        let behind = self.error.iter().map(|why| format!("index: {root}: {why}"));
        let late = "the watcher does not answer; until it does every query compares the worktree";
        let late = self.overdue.iter().map(|_| format!("watch: {root}: {late}"));
        let files = self.files_note.iter().map(|why| format!("files: {root}: {why}"));
        let commits = self.commits.note().map(|why| format!("commits: {root}: {why}"));
        behind
            .chain(files)
            .chain(commits)
            .chain(self.unwatched.iter().map(|why| format!("watch: {why}")))
            .chain(late)
            .collect()
    }
}

#[cfg(test)]
mod tests;
