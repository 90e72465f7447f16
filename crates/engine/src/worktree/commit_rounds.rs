//! Tracks which commits of a worktree the index holds.
//!
//! Refs are not watched. For each request the worktree's thread resolves `HEAD`, in a few small reads, and the tip is
//! compared with the one that the index was built for. So the next answer includes a commit, whatever moved the branch.

use std::time::{Duration, Instant};

use memod_git::Tip;

/// The first and the longest delay until a request searches for missing objects again, since no event reports their return.
/// Each failure doubles the delay.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));

/// Which commits of a worktree the index holds, and which are being read.
#[derive(Default)]
pub(crate) struct CommitsState {
    /// Whether there is a repository; outside git there is nothing to wait for.
    is_in_git: bool,
    /// The tip that the index holds.
    indexed: Option<Tip>,
    /// The tip that is being read.
    reading: Option<Tip>,
    /// The tip to read next.
    wanted: Option<Tip>,
    /// The tip that `HEAD` last resolved to.
    latest: Option<Tip>,
    /// Number of pending reads of `HEAD` that no request waits for.
    n_head_reads: u32,
    /// Numbers of the last round started and of the last round ended, from 1.
    started: u64,
    ended: u64,
    /// Why the last round failed.
    error: Option<String>,
    /// Parts of the history that the last round could not read.
    note: Option<String>,
    /// Whether the history has older commits than the index holds.
    pub(crate) has_older: bool,
    /// Time and delay of the next search for missing objects.
    retry: Option<(Instant, Duration)>,
}

impl CommitsState {
    pub(crate) fn new(is_in_git: bool) -> Self {
        Self { is_in_git, ..Self::default() }
    }

    /// Records the tip of `HEAD`, and returns the round that must end before the index holds all commits up to it.
    pub(crate) fn request_tip(&mut self, tip: Tip) -> u64 {
        self.latest = Some(tip.clone());
        match (&self.reading, &self.indexed) {
            (Some(reading), _) if *reading == tip && self.wanted.is_none() => self.started,
            (None, Some(indexed)) if *indexed == tip && self.wanted.is_none() && !self.is_retry_due() => {
                self.ended
            }
            _ => {
                self.wanted = Some(tip);
                self.started + 1
            }
        }
    }

    /// Records that a read of `HEAD` is pending; the state is unknown until it ends. Returns false outside git.
    pub(super) fn begin_head_read(&mut self) -> bool {
        self.n_head_reads += u32::from(self.is_in_git);
        self.is_in_git
    }

    /// Records the result of a read of `HEAD` that no request waits for.
    pub(super) fn end_head_read(&mut self, tip: Tip) {
        self.n_head_reads = self.n_head_reads.saturating_sub(1);
        self.request_tip(tip);
    }

    /// Starts the next round if one is wanted and none runs; returns the tip to read.
    pub(crate) fn start_round(&mut self) -> Option<Tip> {
        if self.reading.is_some() {
            return None;
        }
        self.reading = Some(self.wanted.take()?);
        self.started += 1;
        self.reading.clone()
    }

    /// Returns whether a round of reading commits runs.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    fn is_retry_due(&self) -> bool {
        self.retry.is_some_and(|(at, _)| at <= Instant::now())
    }

    /// Records the end of a round. `notes` are the parts of the history that could not be read; with `may_come_back` a later
    /// request searches for them again.
    pub(crate) fn end_round(&mut self, failed: Option<String>, notes: &[String], may_come_back: bool) {
        let same = self.indexed.is_some() && self.indexed == self.reading;
        let gap =
            self.retry.filter(|_| same).map_or(RETRY_DELAYS.0, |(_, gap)| (gap * 2).min(RETRY_DELAYS.1));
        self.retry = may_come_back.then(|| (Instant::now() + gap, gap));
        self.note = notes.split_first().map(|(first, more)| match more.len() {
            0 => first.clone(),
            n_more => format!("{first}; and {n_more} more"),
        });
        self.ended = self.started;
        self.indexed = self.reading.take().filter(|_| failed.is_none());
        self.error = failed;
    }

    /// Records that the index was emptied: commits that were read so far, or are being read, must be read again.
    pub(crate) fn forget_indexed(&mut self) {
        self.indexed = None;
        self.wanted = self.latest.clone();
    }

    /// Returns whether the index holds the commits that a round was to read. Round 0 is for requests that need no commits.
    pub(super) fn has_indexed_round(&self, round: u64) -> bool {
        round == 0 || round <= self.ended && self.error.is_none()
    }

    /// Returns why a round that has ended failed.
    pub(super) fn round_failure(&self, round: u64) -> Option<&String> {
        self.error.as_ref().filter(|_| (1..=self.ended).contains(&round))
    }

    /// Returns why commits are missing, if any are.
    pub(super) fn missing_note(&self) -> Option<&String> {
        self.error.as_ref().or(self.note.as_ref())
    }

    /// Returns whether commits are missing from the index that may be read later.
    pub(super) fn has_gaps(&self) -> bool {
        self.error.is_some() || self.retry.is_some()
    }

    /// Returns whether no known commit is missing from the index.
    pub(super) fn is_current(&self) -> bool {
        self.n_head_reads == 0 && self.reading.is_none() && self.wanted.is_none() && self.error.is_none()
    }
}

#[cfg(test)]
mod tests {
    use memod_base::paths::{Env, RepoLayout, effective_uid};
    use memod_git::{ObjectHash, ObjectId, Refs};

    use super::*;

    /// A repository whose `HEAD` a test sets.
    struct Bench {
        commits: CommitsState,
        refs: Refs,
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
            let layout = RepoLayout::locate_or_assume_root(temp.path(), &env).unwrap();
            let refs = Refs::new(&layout, ObjectHash::Sha1).unwrap();
            Self { commits: CommitsState::new(true), refs, temp }
        }

        fn commit(&self, digit: &str) {
            let file = self.temp.path().join(".git/refs/heads/main");
            std::fs::write(file, format!("{}\n", digit.repeat(40))).unwrap();
        }

        fn look(&mut self) -> u64 {
            self.commits.request_tip(self.refs.read_tip())
        }

        fn start(&mut self) -> Option<ObjectId> {
            self.commits.start_round().and_then(|tip| tip.head.unwrap())
        }
    }

    #[test]
    fn who_asks_waits_for_a_round_that_began_after_the_commit() {
        let mut bench = Bench::new();
        let round = bench.look();
        assert!(!bench.commits.has_indexed_round(round), "nothing was read yet");
        assert_eq!(bench.start(), None, "a branch without a commit");
        bench.commit("1");
        let later = bench.look();
        bench.commits.end_round(None, &[], false);
        assert!(bench.commits.has_indexed_round(round) && !bench.commits.has_indexed_round(later));
        assert!(bench.start().is_some());
        assert_eq!(bench.look(), later, "what is being read is what is asked for");
        bench.commits.end_round(None, &[], false);
        assert!(bench.commits.has_indexed_round(later) && bench.commits.is_current());
        let same = bench.look();
        assert!(bench.commits.has_indexed_round(same) && bench.commits.start_round().is_none());
    }

    #[test]
    fn a_round_that_failed_is_tried_again() {
        let mut bench = Bench::new();
        bench.commit("1");
        let round = bench.look();
        assert!(bench.start().is_some());
        bench.commits.end_round(Some("disk full".to_owned()), &[], false);
        assert!(!bench.commits.has_indexed_round(round) && bench.commits.round_failure(round).is_some());
        let again = bench.look();
        assert!(bench.commits.round_failure(again).is_none() && bench.start().is_some());
        bench.commits.end_round(None, &[], false);
        assert!(bench.commits.has_indexed_round(again));
        assert!(bench.commits.begin_head_read() && !bench.commits.is_current(), "somebody is about to look");
        bench.commits.end_head_read(bench.refs.read_tip());
        assert!(bench.commits.is_current());
        bench.commits.forget_indexed();
        assert!(!bench.commits.is_current() && bench.start().is_some(), "the index was emptied");
        bench.commits.forget_indexed();
        let last = bench.look();
        bench.commits.end_round(None, &[], false);
        assert!(!bench.commits.has_indexed_round(last), "it was emptied while it was read");
    }

    #[test]
    fn what_was_missing_is_looked_for_again() {
        let mut bench = Bench::new();
        bench.commit("1");
        let gaps = ["not in this repository".to_owned()];
        bench.look();
        assert!(bench.start().is_some());
        bench.commits.end_round(None, &gaps, true);
        let soon = bench.look();
        assert!(bench.commits.has_indexed_round(soon), "not for each question");
        for gap in [RETRY_DELAYS.0, RETRY_DELAYS.0 * 2] {
            let (at, found) = bench.commits.retry.unwrap();
            assert_eq!(found, gap);
            bench.commits.retry = Some((at - gap, gap));
            let later = bench.look();
            assert!(!bench.commits.has_indexed_round(later) && bench.start().is_some());
            bench.commits.end_round(None, &gaps, true);
        }
        bench.commit("2");
        bench.look();
        assert!(bench.start().is_some());
        bench.commits.end_round(None, &[], false);
        assert_eq!(bench.commits.retry, None);
    }
}
