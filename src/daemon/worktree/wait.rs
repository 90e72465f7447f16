//! Tracks the requests that wait for freshness, and their cookies.

use std::path::Path;
use std::time::{Duration, Instant};

use super::WorktreeState;
use crate::daemon::event::Ask;
use crate::index::Missed;
use crate::proto::Sync;

/// How long a cookie may take before the watcher counts as broken.
pub(super) const COOKIE_TIMEOUT: Duration = Duration::from_millis(500);
/// How often a request waits for another reconcile because files moved during the last one.
pub(super) const MOST_TRIES: u32 = 3;

/// A file that was created and removed, and has not come back as an event yet.
pub(super) struct Cookie {
    pub(super) name: String,
    pub(super) made_at: Instant,
    /// The last reconcile that had ended by then.
    pub(super) ended: u64,
    pub(super) asks: Vec<Ask>,
}

/// A request that waits for a reconcile, and then perhaps for embeddings.
pub(super) struct Waiter {
    pub(super) ask: Ask,
    pub(super) reconcile: u64,
    pub(super) round: Option<u64>,
    /// Why there is no use in waiting any longer.
    pub(super) restless: Option<String>,
}

impl WorktreeState {
    /// Takes a question; it is answered by [`Self::answer`] sooner or later.
    pub(in super::super) fn ask(&mut self, mut ask: Ask, now: Instant) {
        if ask.needs_commits && ask.level != Sync::None {
            ask.commits_round = self.commits.look();
        }
        for key in &ask.dirty {
            self.dirty.insert(key.clone());
        }
        let found_stale = !ask.dirty.is_empty();
        match ask.level {
            Sync::None if found_stale => self.await_reconcile(vec![ask]),
            Sync::None => self.waiters.push(Waiter { ask, reconcile: 0, round: None, restless: None }),
            _ => self.await_changes(ask, now),
        }
    }

    /// Makes a question wait for all that was written before this moment.
    fn await_changes(&mut self, ask: Ask, now: Instant) {
        if ask.level == Sync::Strict || !self.is_watched() {
            self.rescan = true;
            self.await_reconcile(vec![ask]);
        } else {
            self.queued.push(ask);
            self.send_cookie(now);
        }
    }

    /// Makes the next cookie when none is on its way and somebody waits for one.
    pub(super) fn send_cookie(&mut self, now: Instant) {
        if self.cookie.is_some() || self.queued.is_empty() {
            return;
        }
        self.n_cookies += 1;
        let name = format!("{}-{}", std::process::id(), self.n_cookies);
        let path = self.layout.cookie_dir().join(&name);
        let asks = std::mem::take(&mut self.queued);
        match std::fs::write(&path, "").and_then(|()| std::fs::remove_file(&path)) {
            Ok(()) => self.cookie = Some(Cookie { name, made_at: now, ended: self.ended, asks }),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "no cookie; comparing the whole worktree");
                self.rescan = true;
                self.await_reconcile(asks);
            }
        }
    }

    /// Takes a cookie that came back: all that was written before it is in the dirty set. Of what happened under an
    /// unsteady reconcile only a cookie made after it tells.
    pub(in super::super) fn cookie_back(&mut self, path: &Path, now: Instant) {
        let is = |name: &str| path.file_name().is_some_and(|found| found == name);
        self.overdue.take_if(|name| is(name));
        if let Some(cookie) = self.cookie.take_if(|cookie| is(&cookie.name)) {
            if cookie.ended < self.unsteady {
                self.queued.extend(cookie.asks);
            } else {
                self.await_reconcile(cookie.asks);
            }
            self.send_cookie(now);
        }
    }

    /// Gives up on a cookie that does not come back: the watcher is broken, the disk is compared instead.
    pub(in super::super) fn expire_cookie(&mut self, now: Instant) {
        if self.cookie.as_ref().is_some_and(|cookie| cookie.made_at + COOKIE_TIMEOUT <= now) {
            tracing::warn!(root = %self.layout.root.display(), "the watcher did not answer; polling until it does");
            self.overdue = self.await_walk();
        }
    }

    pub(super) fn await_reconcile(&mut self, asks: Vec<Ask>) {
        let reconcile = if self.is_dirty() { self.started + 1 } else { self.started };
        let waiter = |ask| Waiter { ask, reconcile, round: None, restless: None };
        self.waiters.extend(asks.into_iter().map(waiter));
    }

    /// Lets everybody who waits for a cookie wait for a walk instead.
    pub(super) fn await_walk(&mut self) -> Option<String> {
        let cookie = self.cookie.take();
        let (name, asks) = cookie.map(|cookie| (cookie.name, cookie.asks)).unzip();
        let queued = std::mem::take(&mut self.queued);
        self.rescan = true;
        self.await_reconcile(asks.into_iter().flatten().chain(queued).collect());
        name
    }

    /// Lets everybody who waits for a reconcile wait for the next one.
    pub(super) fn postpone(&mut self) {
        for waiter in &mut self.waiters {
            waiter.reconcile = self.started + 1;
            waiter.round = None;
        }
    }

    /// Makes those who waited for the reconcile that has ended wait for what happened meanwhile.
    ///
    /// What a listing missed a cookie brings; without a watcher another listing must, until no directory changes under it.
    pub(in super::super) fn look_again(&mut self, missed: &Missed, now: Instant) {
        let Missed { moving, listed, shifted } = missed;
        let by_cookie = self.is_watched() && moving.is_none();
        let by_listing = if self.is_watched() { *listed } else { *shifted };
        if moving.is_none() && !by_listing {
            return;
        }
        let ended = self.ended;
        self.unsteady = ended;
        let served = |waiter: &mut Waiter| {
            waiter.reconcile <= ended && waiter.ask.level != Sync::None && waiter.round.is_none()
        };
        let waiters: Vec<Waiter> = self.waiters.extract_if(.., served).collect();
        for mut waiter in waiters {
            waiter.ask.tries += 1;
            if waiter.ask.tries > MOST_TRIES {
                let among = moving.as_ref().map(|key| format!(", {key} among them")).unwrap_or_default();
                waiter.restless = Some(format!("files change faster than they can be indexed{among}"));
                self.waiters.push(waiter);
            } else if by_cookie {
                self.queued.push(waiter.ask); // it has had the walk that `strict` asks for
                self.send_cookie(now);
            } else {
                self.await_changes(waiter.ask, now);
            }
        }
    }
}
