//! Tracks the probe of a worktree that follows the arrival of a request.
//!
//! A probe is sent after the request arrived: the thread of the worktree makes a cookie and resolves `HEAD`. A pending
//! probe does not serve later requests; they share the next one.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::messages::loop_event::PendingRequest;

/// Time after which a missing cookie means that the watcher is broken.
pub(super) const COOKIE_TIMEOUT: Duration = Duration::from_millis(500);
/// Time after which an access to the disk that has not ended is reported.
pub(crate) const SLOW_ACCESS: Duration = Duration::from_millis(500);

/// The pending probe, and the requests that wait for it or for the next one.
pub(super) struct ProbeQueue {
    /// See [`N_COOKIES`](memod_watch::N_COOKIES).
    n_cookies: u32,
    n_sent: u64,
    pub(super) queued: Vec<PendingRequest>,
    pub(super) current: Option<Probe>,
}

/// A check that everything written before its requests arrived is known: it makes cookies and resolves `HEAD`.
pub(super) struct Probe {
    pub(super) number: u64,
    /// When the probe was sent.
    sent_at: Instant,
    /// Whether the probe makes cookies: files that are created and removed, whose events must come back.
    pub(super) has_cookie: bool,
    /// Number of cookies that came back.
    n_back: u32,
    /// Whether the event of the last cookie came back, or a walk replaces the cookie.
    pub(super) is_cookie_back: bool,
    /// When the worktree's thread had completed the probe, or its present cookie; `None` until the file system answers.
    pub(super) answered_at: Option<Instant>,
    /// Number of the last reconcile that had ended when the probe was sent.
    pub(super) ended: u64,
    pub(super) requests: Vec<PendingRequest>,
}

impl Probe {
    /// Returns the file name of the probe's present cookie.
    pub(super) fn cookie_name(&self) -> String {
        format!("{}-{}-{}", std::process::id(), self.number, self.n_back)
    }

    /// Returns whether a path is the present cookie, whose event has not come back.
    fn awaits_cookie(&self, path: &Path) -> bool {
        !self.is_cookie_back && path.file_name().is_some_and(|name| name == self.cookie_name().as_str())
    }

    /// Returns whether the file system has not answered for too long.
    fn is_slow(&self, now: Instant) -> bool {
        self.answered_at.is_none() && self.sent_at + SLOW_ACCESS <= now
    }

    /// Returns the time from which on the present cookie is late; `None` if no cookie is awaited.
    fn cookie_late_at(&self) -> Option<Instant> {
        self.answered_at.filter(|_| self.has_cookie && !self.is_cookie_back).map(|at| at + COOKIE_TIMEOUT)
    }
}

impl ProbeQueue {
    /// Returns a queue without a probe; each probe will make `n_cookies` cookies.
    pub(super) fn new(n_cookies: u32) -> Self {
        Self { n_cookies, n_sent: 0, queued: Vec::new(), current: None }
    }

    /// Begins the next probe for all queued requests, and returns it for sending. `None` if one is pending or no request waits.
    /// `ended` is the number of the last reconcile that has ended.
    pub(super) fn begin_next(&mut self, has_cookie: bool, ended: u64) -> Option<&Probe> {
        if self.current.is_some() || self.queued.is_empty() {
            return None;
        }
        self.n_sent += 1;
        let (number, requests) = (self.n_sent, std::mem::take(&mut self.queued));
        let sent_at = Instant::now();
        let (n_back, is_cookie_back, answered_at) = (0, false, None);
        let probe =
            Probe { number, sent_at, has_cookie, n_back, is_cookie_back, answered_at, ended, requests };
        Some(self.current.insert(probe))
    }

    /// Removes and returns the pending probe if the file system has answered.
    pub(super) fn take_answered(&mut self) -> Option<Probe> {
        self.current.take_if(|probe| probe.answered_at.is_some())
    }

    /// Records that a cookie came back as an event. Returns the probe if another cookie must be made for it.
    pub(super) fn record_cookie_event(&mut self, path: &Path) -> Option<&Probe> {
        let probe = self.current.as_mut().filter(|probe| probe.awaits_cookie(path))?;
        probe.n_back += 1;
        probe.is_cookie_back = probe.n_back == self.n_cookies;
        if !probe.is_cookie_back {
            probe.answered_at = None;
        }
        Some(&*probe).filter(|probe| !probe.is_cookie_back)
    }

    /// Records that a walk replaces the pending cookie.
    pub(super) fn mark_served_by_walk(&mut self) {
        if let Some(probe) = &mut self.current {
            probe.is_cookie_back = true;
        }
    }

    /// Returns the name of the present cookie if it is late.
    pub(super) fn late_cookie(&self, now: Instant) -> Option<String> {
        let probe = self.current.as_ref()?;
        probe.cookie_late_at().filter(|at| *at <= now).map(|_| probe.cookie_name())
    }

    /// Returns the time when a request or a cookie must be given up although no event comes.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let out = self.current.as_ref();
        let requests = out.into_iter().flat_map(|probe| &probe.requests).chain(&self.queued);
        requests.map(|request| request.deadline).chain(out.and_then(Probe::cookie_late_at)).min()
    }

    /// Returns whether the file system of the worktree takes too long to answer.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.current.as_ref().is_some_and(|probe| probe.is_slow(now))
    }

    /// Removes and returns the requests whose deadline is over.
    pub(super) fn take_late(&mut self, now: Instant) -> Vec<PendingRequest> {
        let queued = self.queued.extract_if(.., |request| request.deadline <= now);
        let mut requests: Vec<PendingRequest> = queued.collect();
        if let Some(probe) = &mut self.current {
            requests.extend(probe.requests.extract_if(.., |request| request.deadline <= now));
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use memod_base::paths::RepoLayout;
    use memod_proto::FreshnessLevel;
    use tokio::sync::oneshot;

    use super::*;

    fn ask(deadline: Instant) -> PendingRequest {
        let layout = RepoLayout {
            root: "/r".into(),
            git_dir: None,
            common_dir: None,
            state_dir: "/r/.memo".into(),
            id: String::new(),
        };
        PendingRequest::new(layout, FreshnessLevel::Fs, deadline, oneshot::channel().0)
    }

    #[test]
    fn one_that_is_out_does_not_serve_who_comes_later() {
        let now = Instant::now();
        let mut probes = ProbeQueue::new(1);
        assert!(probes.begin_next(true, 0).is_none(), "nobody waits");
        probes.queued.push(ask(now));
        assert_eq!(probes.begin_next(true, 0).unwrap().requests.len(), 1);
        probes.queued.push(ask(now));
        assert!(probes.begin_next(true, 0).is_none(), "one is out");
        assert!(probes.take_answered().is_none());
        probes.current.as_mut().unwrap().answered_at = Some(now);
        assert_eq!(probes.take_answered().unwrap().number, 1);
        assert_eq!(probes.begin_next(true, 0).unwrap().number, 2);
    }

    #[test]
    fn a_cookie_is_late_once_the_file_system_has_answered_and_not_before() {
        let now = Instant::now();
        let later = now + Duration::from_secs(9);
        let mut probes = ProbeQueue::new(1);
        probes.queued.push(ask(later));
        probes.begin_next(true, 0);
        assert_eq!((probes.late_cookie(later), probes.deadline()), (None, Some(later)));
        probes.current.as_mut().unwrap().answered_at = Some(now);
        assert_eq!(probes.deadline(), Some(now + COOKIE_TIMEOUT));
        assert_eq!(probes.late_cookie(now), None);
        let cookie = probes.current.as_ref().unwrap().cookie_name();
        assert_eq!(probes.late_cookie(now + COOKIE_TIMEOUT).as_ref(), Some(&cookie));
        assert!(probes.record_cookie_event(Path::new("/cookies/other")).is_none());
        assert!(probes.late_cookie(later).is_some());
        assert!(
            probes.record_cookie_event(&Path::new("/cookies").join(cookie)).is_none(),
            "no other is needed"
        );
        assert_eq!(probes.late_cookie(later), None);
    }

    #[test]
    fn a_second_cookie_is_made_once_the_first_is_back() {
        let now = Instant::now();
        let later = now + Duration::from_secs(9);
        let mut probes = ProbeQueue::new(2);
        probes.queued.push(ask(later));
        let first = probes.begin_next(true, 0).unwrap().cookie_name();
        probes.current.as_mut().unwrap().answered_at = Some(now);
        let second = probes.record_cookie_event(Path::new(&first)).unwrap().cookie_name();
        assert_ne!(first, second);
        assert!(probes.record_cookie_event(Path::new(&first)).is_none(), "it has several events");
        assert_eq!(probes.late_cookie(later), None, "it is not made yet");
        probes.current.as_mut().unwrap().answered_at = Some(now);
        assert_eq!(probes.late_cookie(later).as_ref(), Some(&second));
        assert!(!probes.current.as_ref().unwrap().is_cookie_back);
        assert!(probes.record_cookie_event(Path::new(&second)).is_none());
        assert!(probes.current.as_ref().unwrap().is_cookie_back);
    }

    #[test]
    fn whose_time_is_over_waits_no_longer() {
        let now = Instant::now();
        let mut probes = ProbeQueue::new(1);
        for deadline in [now, now + COOKIE_TIMEOUT] {
            probes.queued.push(ask(deadline));
        }
        probes.begin_next(true, 0);
        probes.queued.push(ask(now));
        assert!(!probes.is_overdue(now), "it was sent a moment ago");
        let later = Instant::now() + SLOW_ACCESS;
        assert_eq!((probes.take_late(now).len(), probes.is_overdue(later)), (2, true));
        probes.current.as_mut().unwrap().answered_at = Some(now);
        assert_eq!((probes.take_late(now).len(), probes.is_overdue(later)), (0, false));
        assert_eq!(probes.take_late(now + COOKIE_TIMEOUT).len(), 1);
    }
}
