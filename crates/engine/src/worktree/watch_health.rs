//! Tracks whether the watcher of a worktree can be trusted.

use std::path::Path;

/// Whether the events of the watcher are complete, and why not.
#[derive(Debug)]
pub(super) struct WatchHealth {
    /// Whether the watcher is never trusted, because of the settings or the file system.
    polls: bool,
    /// Whether every relevant directory is watched.
    all_watched: bool,
    /// Why some directory is not watched, with the remedy.
    unwatched: Option<String>,
    /// The cookie that is late; the watcher is not trusted until it comes back.
    overdue: Option<String>,
    /// Number of times that a directory was found not to be watched.
    n_losses: u64,
}

impl WatchHealth {
    /// Returns the state of a watcher without known problems.
    pub(super) fn new() -> Self {
        Self { polls: false, all_watched: true, unwatched: None, overdue: None, n_losses: 0 }
    }

    /// Returns whether the watcher covers everything and answers cookies.
    pub(super) fn is_reliable(&self) -> bool {
        self.all_watched && self.overdue.is_none()
    }

    /// Records that some directory is not watched, and why; returns whether all were watched until now.
    pub(super) fn mark_unwatched(&mut self, why: Option<String>) -> bool {
        if !self.polls {
            self.unwatched = why;
        }
        self.n_losses += 1;
        std::mem::replace(&mut self.all_watched, false)
    }

    /// Records that the watcher is never to be trusted again.
    pub(super) fn poll_always(&mut self) {
        self.polls = true;
    }

    /// Returns the token with which [`Self::mark_all_watched`] may be called once all directories have been watched again. `None`
    /// if every directory is watched, or the watcher is never to be trusted.
    pub(super) fn recovery_token(&self) -> Option<u64> {
        (!self.all_watched && !self.polls).then_some(self.n_losses)
    }

    /// Records that every directory is watched, unless an unwatched one was found since [`Self::recovery_token`] returned the
    /// token.
    pub(super) fn mark_all_watched(&mut self, recovery: u64) {
        if self.recovery_token() == Some(recovery) {
            (self.all_watched, self.unwatched) = (true, None);
        }
    }

    /// Records that a cookie is late.
    pub(super) fn mark_cookie_late(&mut self, cookie: String) {
        self.overdue = Some(cookie);
    }

    /// Records that a cookie came back as an event. If it was the late one, the watcher works again.
    pub(super) fn record_cookie_event(&mut self, path: &Path) {
        self.overdue.take_if(|name| path.file_name().is_some_and(|found| found == name.as_str()));
    }

    /// Stops waiting for a late cookie, because its event may have been lost: the watcher is trusted again.
    pub(super) fn forget_late_cookie(&mut self) {
        self.overdue = None;
    }

    /// Returns the degradations with their remedies.
    pub(super) fn degradations(&self, root: &Path) -> Vec<String> {
        let late =
            "the watcher does not answer; until it does, every query compares the worktree with the index";
        let late = self.overdue.iter().map(|_| format!("watch: {}: {late}", root.display()));
        self.unwatched.iter().map(|why| format!("watch: {why}")).chain(late).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_under_way_since_the_last_loss_makes_it_good_again() {
        let mut health = WatchHealth::new();
        assert_eq!(health.recovery_token(), None, "nothing is lost");
        assert!(health.mark_unwatched(Some("/r/a: not watched".to_owned())));
        let early = health.recovery_token().unwrap();
        assert!(!health.mark_unwatched(Some("/r/b: not watched".to_owned())));
        health.mark_all_watched(early);
        assert!(!health.is_reliable(), "the second was lost after that began");
        assert_eq!(health.degradations(Path::new("/r")), ["watch: /r/b: not watched"]);
        health.mark_all_watched(health.recovery_token().unwrap());
        assert!(health.is_reliable() && health.degradations(Path::new("/r")).is_empty());
    }

    #[test]
    fn what_is_polled_stays_so() {
        let mut health = WatchHealth::new();
        health.mark_unwatched(Some("/r: nfs".to_owned()));
        health.poll_always();
        assert_eq!(health.recovery_token(), None);
        health.mark_unwatched(Some("/r/a: not watched".to_owned()));
        assert_eq!(
            health.degradations(Path::new("/r")),
            ["watch: /r: nfs"],
            "the first reason is the one that lasts"
        );
    }

    #[test]
    fn a_late_cookie_counts_until_it_is_back() {
        let mut health = WatchHealth::new();
        health.mark_cookie_late("7-1".to_owned());
        health.record_cookie_event(Path::new("/r/cookies/7-2"));
        assert!(!health.is_reliable() && health.degradations(Path::new("/r")).len() == 1);
        health.record_cookie_event(Path::new("/r/cookies/7-1"));
        assert!(health.is_reliable());
        health.mark_cookie_late("7-3".to_owned());
        health.forget_late_cookie();
        assert!(health.is_reliable());
    }
}
