//! Tracks whether the watcher of a worktree is to be believed.

use std::path::Path;

/// What is known of how far events tell of every change.
#[derive(Debug)]
pub(super) struct WatchHealth {
    /// No walk makes the watcher believed: the settings want it so, or the file system needs it.
    polls: bool,
    /// Every directory that counts is watched.
    covered: bool,
    /// Why not, and the remedy.
    unwatched: Option<String>,
    /// A cookie that is late: until it comes back the watcher is not believed.
    overdue: Option<String>,
    /// How often a directory was found that is not watched.
    n_losses: u64,
}

impl WatchHealth {
    /// Makes that of a watcher of which nothing bad is known.
    pub(super) fn new() -> Self {
        Self { polls: false, covered: true, unwatched: None, overdue: None, n_losses: 0 }
    }

    /// Returns whether the watcher covers everything and answers cookies.
    pub(super) fn is_good(&self) -> bool {
        self.covered && self.overdue.is_none()
    }

    /// Notes that some directory is not watched, and why; returns whether all were until now.
    pub(super) fn mark_unwatched(&mut self, why: Option<String>) -> bool {
        if !self.polls {
            self.unwatched = why;
        }
        self.n_losses += 1;
        std::mem::replace(&mut self.covered, false)
    }

    /// Notes that no walk makes the watcher believed any more.
    pub(super) fn poll(&mut self) {
        self.polls = true;
    }

    /// Returns what [`Self::cover`] has to be called with later, when what is under way by now ends well. None where the
    /// watcher is believed already, or never.
    pub(super) fn recovery(&self) -> Option<u64> {
        (!self.covered && !self.polls).then_some(self.n_losses)
    }

    /// Notes that every directory is watched, unless another was found since that is not.
    pub(super) fn cover(&mut self, recovery: u64) {
        if self.recovery() == Some(recovery) {
            (self.covered, self.unwatched) = (true, None);
        }
    }

    /// Notes that a cookie is late.
    pub(super) fn mark_late(&mut self, cookie: String) {
        self.overdue = Some(cookie);
    }

    /// Notes that a cookie came back as an event; a late one shows that the watcher goes on.
    pub(super) fn came_back(&mut self, path: &Path) {
        self.overdue.take_if(|name| path.file_name().is_some_and(|found| found == name.as_str()));
    }

    /// Notes that events were lost, the one of a late cookie perhaps among them: the watcher is tried again.
    pub(super) fn forget_late(&mut self) {
        self.overdue = None;
    }

    /// Returns what does not work, each with its remedy.
    pub(super) fn notes(&self, root: &Path) -> Vec<String> {
        let late = "the watcher does not answer; until it does every query compares the worktree";
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
        assert_eq!(health.recovery(), None, "nothing is lost");
        assert!(health.mark_unwatched(Some("/r/a: not watched".to_owned())));
        let early = health.recovery().unwrap();
        assert!(!health.mark_unwatched(Some("/r/b: not watched".to_owned())));
        health.cover(early);
        assert!(!health.is_good(), "the second was lost after that began");
        assert_eq!(health.notes(Path::new("/r")), ["watch: /r/b: not watched"]);
        health.cover(health.recovery().unwrap());
        assert!(health.is_good() && health.notes(Path::new("/r")).is_empty());
    }

    #[test]
    fn what_is_polled_stays_so() {
        let mut health = WatchHealth::new();
        health.mark_unwatched(Some("/r: nfs".to_owned()));
        health.poll();
        assert_eq!(health.recovery(), None);
        health.mark_unwatched(Some("/r/a: not watched".to_owned()));
        assert_eq!(
            health.notes(Path::new("/r")),
            ["watch: /r: nfs"],
            "the first reason is the one that lasts"
        );
    }

    #[test]
    fn a_late_cookie_counts_until_it_is_back() {
        let mut health = WatchHealth::new();
        health.mark_late("7-1".to_owned());
        health.came_back(Path::new("/r/cookies/7-2"));
        assert!(!health.is_good() && health.notes(Path::new("/r")).len() == 1);
        health.came_back(Path::new("/r/cookies/7-1"));
        assert!(health.is_good());
        health.mark_late("7-3".to_owned());
        health.forget_late();
        assert!(health.is_good());
    }
}
