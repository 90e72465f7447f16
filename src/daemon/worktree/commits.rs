//! Tracks which commits of a worktree the index holds.
//!
//! Nothing watches refs: whoever asks has `HEAD` resolved, in a few small reads, and what it leads to is compared with
//! what the commits in the index were read for. So a commit is in the next answer whatever moved the branch.

use std::time::{Duration, Instant};

use crate::git::{Refs, Tip};

/// Nothing tells that what was missing has come back: who asks after so long has it looked for, and each time in vain
/// doubles it up to the second.
const RETRY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));

/// How far the commits of a view are.
#[derive(Default)]
pub(in super::super) struct CommitsState {
    /// None outside git: there is nothing to wait for.
    refs: Option<Refs>,
    /// What the index holds.
    indexed: Option<Tip>,
    /// What is being read.
    reading: Option<Tip>,
    /// Something else is to be read.
    wanted: bool,
    /// Rounds of reading are numbered from 1; the last one started and the last one ended.
    started: u64,
    ended: u64,
    /// Why the last round failed.
    error: Option<String>,
    /// What of the history the last round could not read.
    note: Option<String>,
    /// When to look again for what was missing, and how long that waits.
    retry: Option<(Instant, Duration)>,
}

impl CommitsState {
    pub(in super::super) fn new(refs: Option<Refs>) -> Self {
        Self { refs, ..Self::default() }
    }

    /// Returns the round that must end before the index holds all commits of this moment.
    pub(in super::super) fn look(&mut self) -> u64 {
        let Some(refs) = &self.refs else { return 0 };
        let tip = refs.tip();
        match (&self.reading, &self.indexed) {
            (Some(reading), _) if *reading == tip && !self.wanted => self.started,
            (None, Some(indexed)) if *indexed == tip && !self.wanted && !self.is_retry_due() => self.ended,
            _ => {
                self.wanted = true;
                self.started + 1
            }
        }
    }

    /// Returns what is to be read now, if anything.
    pub(in super::super) fn start(&mut self) -> Option<Tip> {
        if self.reading.is_some() || !std::mem::take(&mut self.wanted) {
            return None;
        }
        self.started += 1;
        self.reading = self.refs.as_ref().map(Refs::tip);
        self.reading.clone()
    }

    fn is_retry_due(&self) -> bool {
        self.retry.is_some_and(|(at, _)| at <= Instant::now())
    }

    /// Notes that a round has ended; `notes` are what of the history could not be read, which may come back.
    pub(in super::super) fn end(&mut self, failed: Option<String>, notes: &[String], may_come_back: bool) {
        let same = self.indexed.is_some() && self.indexed == self.reading;
        let gap = self.retry.filter(|_| same).map_or(RETRY.0, |(_, gap)| (gap * 2).min(RETRY.1));
        self.retry = may_come_back.then(|| (Instant::now() + gap, gap));
        self.note = notes.split_first().map(|(first, more)| match more.len() {
            0 => first.clone(),
            n_more => format!("{first}; and {n_more} more"),
        });
        self.ended = self.started;
        self.indexed = self.reading.take().filter(|_| failed.is_none());
        self.error = failed;
    }

    /// Notes that the index is emptied: what was read, or is being read, does not count.
    pub(in super::super) fn restart(&mut self) {
        self.indexed = None;
        self.wanted = self.refs.is_some();
    }

    /// Returns whether what was asked for in a round is in the index.
    pub(super) fn has_ended(&self, round: u64) -> bool {
        round <= self.ended && self.error.is_none()
    }

    /// Returns why a round that has ended brought nothing.
    pub(super) fn failure(&self, round: u64) -> Option<&String> {
        self.error.as_ref().filter(|_| round <= self.ended)
    }

    /// Returns why commits are missing, if any are.
    pub(super) fn note(&self) -> Option<&String> {
        self.error.as_ref().or(self.note.as_ref())
    }

    /// Returns whether nothing is known that the index does not hold.
    pub(super) fn is_current(&self) -> bool {
        self.reading.is_none() && !self.wanted && self.error.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{ObjectHash, ObjectId};
    use crate::paths::{Env, RepoLayout, effective_uid};

    /// A repository whose `HEAD` says what a test wants.
    struct Bench {
        commits: CommitsState,
        temp: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            for dir in ["objects", "refs/heads"] {
                std::fs::create_dir_all(temp.path().join(".git").join(dir)).unwrap();
            }
            std::fs::write(temp.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            let env = Env { uid: effective_uid(), ..Env::default() };
            let layout = RepoLayout::locate(temp.path(), &env).unwrap();
            Self { commits: CommitsState::new(Refs::new(&layout, ObjectHash::Sha1)), temp }
        }

        fn commit(&self, digit: &str) {
            let file = self.temp.path().join(".git/refs/heads/main");
            std::fs::write(file, format!("{}\n", digit.repeat(40))).unwrap();
        }

        fn start(&mut self) -> Option<ObjectId> {
            self.commits.start().and_then(|tip| tip.head.unwrap())
        }
    }

    #[test]
    fn who_asks_waits_for_a_round_that_began_after_the_commit() {
        let mut bench = Bench::new();
        let round = bench.commits.look();
        assert!(!bench.commits.has_ended(round), "nothing was read yet");
        assert_eq!(bench.start(), None, "a branch without a commit");
        bench.commit("1");
        let later = bench.commits.look();
        bench.commits.end(None, &[], false);
        assert!(bench.commits.has_ended(round) && !bench.commits.has_ended(later));
        assert!(bench.start().is_some());
        assert_eq!(bench.commits.look(), later, "what is being read is what is asked for");
        bench.commits.end(None, &[], false);
        assert!(bench.commits.has_ended(later) && bench.commits.is_current());
        let same = bench.commits.look();
        assert!(bench.commits.has_ended(same) && bench.commits.start().is_none());
    }

    #[test]
    fn a_round_that_failed_is_tried_again() {
        let mut bench = Bench::new();
        bench.commit("1");
        let round = bench.commits.look();
        assert!(bench.start().is_some());
        bench.commits.end(Some("disk full".to_owned()), &[], false);
        assert!(!bench.commits.has_ended(round) && bench.commits.failure(round).is_some());
        let again = bench.commits.look();
        assert!(bench.commits.failure(again).is_none() && bench.start().is_some());
        bench.commits.end(None, &[], false);
        assert!(bench.commits.has_ended(again));
        bench.commits.restart();
        assert!(!bench.commits.is_current() && bench.start().is_some(), "the index was emptied");
        bench.commits.restart();
        let last = bench.commits.look();
        bench.commits.end(None, &[], false);
        assert!(!bench.commits.has_ended(last), "it was emptied while it was read");
    }

    #[test]
    fn what_was_missing_is_looked_for_again() {
        let mut bench = Bench::new();
        bench.commit("1");
        let gaps = ["not in this repository".to_owned()];
        bench.commits.look();
        assert!(bench.start().is_some());
        bench.commits.end(None, &gaps, true);
        let soon = bench.commits.look();
        assert!(bench.commits.has_ended(soon), "not for each question");
        for gap in [RETRY.0, RETRY.0 * 2] {
            let (at, found) = bench.commits.retry.unwrap();
            assert_eq!(found, gap);
            bench.commits.retry = Some((at - gap, gap));
            let later = bench.commits.look();
            assert!(!bench.commits.has_ended(later) && bench.start().is_some());
            bench.commits.end(None, &gaps, true);
        }
        bench.commit("2");
        bench.commits.look();
        assert!(bench.start().is_some());
        bench.commits.end(None, &[], false);
        assert_eq!(bench.commits.retry, None);
    }
}
