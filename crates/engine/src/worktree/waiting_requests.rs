//! Tracks the requests that wait for freshness.

use std::path::Path;
use std::time::Instant;

use memod_git::Tip;
use memod_indexing::MissedFiles;
use memod_proto::FreshnessLevel;

use super::WorktreeState;
use super::probe::ProbeQueue;
use crate::messages::disk_task::{DiskTask, ProbeResult};
use crate::messages::loop_event::PendingRequest;

/// Most further reconciles that a request waits for because files moved during the last one.
pub(super) const MOST_TRIES: u32 = 3;

/// A request that waits for a reconcile, and then perhaps for embeddings.
pub(super) struct Waiter {
    pub(super) request: PendingRequest,
    /// Number of the reconcile that must end.
    pub(super) reconcile: u64,
    /// Number of the round of embedding that must end.
    pub(super) round: Option<u64>,
    /// Why further waiting is useless: files keep changing.
    pub(super) give_up_reason: Option<String>,
}

impl Waiter {
    fn new(request: PendingRequest, reconcile: u64) -> Self {
        Self { request, reconcile, round: None, give_up_reason: None }
    }
}

impl WorktreeState {
    /// Accepts a request; [`Self::answer_requests`] answers it later.
    pub(crate) fn accept_request(&mut self, request: PendingRequest) {
        for key in &request.dirty {
            self.dirty.insert(key.clone());
        }
        match request.level {
            FreshnessLevel::None if !request.dirty.is_empty() => self.await_reconcile(vec![request]),
            FreshnessLevel::None => self.waiters.push(Waiter::new(request, 0)),
            _ => self.await_probe(request),
        }
    }

    /// Makes a request wait for everything written before now.
    fn await_probe(&mut self, request: PendingRequest) {
        self.probes.queued.push(request);
        self.send_probe();
    }

    /// Sends the next probe if none is pending and a request waits for one.
    fn send_probe(&mut self) {
        let mut queued = self.probes.queued.iter();
        let has_cookie = self.watch.is_reliable()
            && queued.any(|request| request.level != FreshnessLevel::Strict || request.was_walked);
        let Some(probe) = self.probes.begin_next(has_cookie, self.reconciles.last_ended()) else { return };
        let tip = probe.requests.iter().any(|request| request.needs_commits);
        let cookie = has_cookie.then(|| probe.cookie_name());
        let task = DiskTask::Probe { number: probe.number, cookie, tip };
        self.send_task(task);
    }

    /// Handles the result of a probe.
    pub(crate) fn on_probed(&mut self, probed: ProbeResult, now: Instant) {
        let Some(probe) = self.probes.current.as_mut().filter(|probe| probe.number == probed.number) else {
            return;
        };
        probe.answered_at = Some(now);
        if let Err(error) = probed.cookie {
            tracing::warn!(%error, "cannot make a cookie; comparing the whole worktree with the index");
            probe.has_cookie = false;
        }
        if let Some(tip) = probed.tip {
            let round = self.commits.request_tip(tip);
            for request in probe.requests.iter_mut().filter(|request| request.needs_commits) {
                request.commits_round = round;
            }
        }
        self.continue_probed_requests();
    }

    /// Handles a cookie that came back: after the last one of a probe, everything written before is in the dirty set.
    pub(crate) fn on_cookie_event(&mut self, path: &Path) {
        self.watch.record_cookie_event(path);
        if let Some(probe) = self.probes.record_cookie_event(path) {
            let (number, cookie) = (probe.number, Some(probe.cookie_name()));
            self.send_task(DiskTask::Probe { number, cookie, tip: false });
        }
        self.continue_probed_requests();
    }

    /// Gives up on a late cookie: the watcher is not trusted, and the worktree is compared with the index instead.
    pub(crate) fn expire_cookie(&mut self, now: Instant) {
        if let Some(cookie) = self.probes.late_cookie(now) {
            tracing::warn!(root = %self.layout.root.display(), "the watcher did not answer; polling until it does");
            self.watch.mark_cookie_late(cookie);
            self.continue_probed_requests();
        }
    }

    /// Continues the requests whose probe is complete. A walk begins only here, once the file system has answered.
    pub(super) fn continue_probed_requests(&mut self) {
        let Some(mut probe) = self.probes.take_answered() else { return };
        let is_believed = probe.has_cookie && self.watch.is_reliable();
        let walking = probe.requests.extract_if(.., |request| {
            !is_believed || request.level == FreshnessLevel::Strict && !request.was_walked
        });
        let walking: Vec<PendingRequest> = walking.collect();
        if is_believed && !probe.is_cookie_back {
            self.probes.current = Some(probe);
        } else if self.reconciles.is_covered_by_probe(probe.ended) {
            self.await_reconcile(probe.requests);
        } else {
            self.probes.queued.extend(probe.requests); // only a later cookie covers the changes during that reconcile
        }
        if !walking.is_empty() {
            self.dirty.need_walk();
            self.await_reconcile(walking);
        }
        self.send_probe();
    }

    /// Makes requests wait for the reconcile after which the index holds all changes that are known now.
    fn await_reconcile(&mut self, requests: Vec<PendingRequest>) {
        let reconcile = self.reconciles.covering_reconcile_number(self.is_dirty());
        self.waiters.extend(requests.into_iter().map(|request| Waiter::new(request, reconcile)));
    }

    /// Makes every request that waits for a reconcile wait for the next one.
    pub(super) fn postpone_waiters(&mut self) {
        for waiter in &mut self.waiters {
            waiter.reconcile = self.reconciles.next_number();
            waiter.round = None;
        }
    }

    /// Makes requests that waited for the reconcile that has just ended wait again, if it may have missed files.
    ///
    /// The cookie of another probe reveals what a listing missed. Without a watcher the listing is repeated until no directory
    /// changes during it.
    pub(crate) fn requeue_if_files_moved(&mut self, missed: &MissedFiles) {
        let MissedFiles { moving, listed, shifted } = missed;
        let is_watched = self.watch.is_reliable();
        let by_cookie = is_watched && moving.is_none();
        let by_listing = if is_watched { *listed } else { *shifted };
        if moving.is_none() && !by_listing {
            return;
        }
        self.reconciles.mark_unsteady();
        let ended = self.reconciles.last_ended();
        let served = self.waiters.extract_if(.., |waiter| {
            waiter.reconcile <= ended
                && waiter.request.level != FreshnessLevel::None
                && waiter.round.is_none()
        });
        let waiters: Vec<Waiter> = served.collect();
        for mut waiter in waiters {
            waiter.request.tries += 1;
            if waiter.request.tries > MOST_TRIES {
                let among = moving.as_ref().map(|key| format!(", {key} among them")).unwrap_or_default();
                waiter.give_up_reason = Some(format!("files change faster than they can be indexed{among}"));
                self.waiters.push(waiter);
            } else {
                waiter.request.was_walked |= by_cookie; // the request has had the walk that `strict` requires
                self.probes.queued.push(waiter.request);
            }
        }
        self.send_probe();
    }

    /// Asks the worktree's thread to resolve `HEAD`, because git may have made a commit.
    pub(crate) fn request_head_read(&mut self) {
        if self.commits.begin_head_read() {
            self.send_task(DiskTask::ResolveHead);
        }
    }

    /// Records the tip that the worktree's thread has resolved `HEAD` to.
    pub(crate) fn end_head_read(&mut self, tip: Tip) {
        self.commits.end_head_read(tip);
    }

    /// Returns all waiting requests of a worktree that is closed.
    pub(crate) fn into_requests(self) -> Vec<PendingRequest> {
        let ProbeQueue { queued, current, .. } = self.probes;
        let waiting = self.waiters.into_iter().map(|waiter| waiter.request);
        waiting.chain(current.into_iter().flat_map(|probe| probe.requests)).chain(queued).collect()
    }
}
