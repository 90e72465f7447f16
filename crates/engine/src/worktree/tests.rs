use std::path::PathBuf;
use std::sync::mpsc::{self, channel};
use std::time::Duration;

use memod_indexing::{MissedFiles, Progress};
use memod_proto::{FreshnessLevel, RpcError};
use tokio::sync::oneshot::{self, Receiver};

use super::dirty_set::RESCAN_DELAYS;
use super::probe::COOKIE_TIMEOUT;
use super::waiting_requests::MOST_TRIES;
use super::*;
use crate::freshness::Freshness;
use crate::messages::disk_task::{ProbeResult, ReconcileRequest};
use crate::messages::loop_event::PendingRequest;

type Answer = Receiver<Result<Freshness, RpcError>>;

#[cfg(test)]
mod walks;

const MS: Duration = Duration::from_millis(1);
const WAIT: Duration = Duration::from_secs(1);

/// A view with a clock that stands still until it is moved, on a file system that answers at once.
struct Bench {
    view: WorktreeState,
    now: Instant,
    rounds: EmbeddingRounds,
    tasks: mpsc::Receiver<DiskTask>,
    due: mpsc::Receiver<ReconcileRequest>,
}

impl Bench {
    /// A view whose first walk has yet to begin.
    fn new() -> Self {
        let root = PathBuf::from("/r");
        let (git_dir, state_dir) = (Some(root.join(".git")), root.join(".git/memo"));
        let layout = RepoLayout { common_dir: git_dir.clone(), git_dir, root, state_dir, id: String::new() };
        let row = WorktreeRow { id: WorktreeId(1), head: None, epoch: 0, seq: 0, complete: false };
        let (disk, tasks) = channel();
        let (walker, due) = ReconcileThreadHandle::new();
        let view = WorktreeState::new(&row, layout, Debouncer::new(50 * MS, 500 * MS), (1, disk, walker));
        Self { view, now: Instant::now(), rounds: EmbeddingRounds::default(), tasks, due }
    }

    /// A view whose first walk has ended.
    fn walked() -> Self {
        let mut bench = Self::new();
        assert_eq!(bench.start(), Some(ReconcileScope::Full));
        bench.end(&ReconcileScope::Full, None);
        bench
    }

    fn ask(&mut self, level: FreshnessLevel) -> Answer {
        let answer = self.ask_silent(level);
        self.probe(&Ok(()));
        answer
    }

    /// As [`Self::ask`], where the file system does not answer.
    fn ask_silent(&mut self, level: FreshnessLevel) -> Answer {
        let (reply, answer) = oneshot::channel();
        self.view.accept_request(PendingRequest::new(
            self.view.layout.clone(),
            level,
            self.now + WAIT,
            reply,
        ));
        answer
    }

    /// Has the file system answer what it was asked.
    fn probe(&mut self, made: &Result<(), String>) {
        while let Ok(task) = self.tasks.try_recv() {
            let DiskTask::Probe { number, .. } = task else { continue };
            let probed = ProbeResult { number, cookie: made.clone(), tip: None, settings: None };
            self.view.on_probed(probed, self.now);
        }
    }

    fn mark_dirty(&mut self, path: &str) {
        self.view.mark_dirty(SourceKey::new(path), self.now);
    }

    /// The name of the cookie on its way.
    fn cookie(&self) -> PathBuf {
        let probe = self.view.probes.current.as_ref().filter(|probe| probe.has_cookie);
        PathBuf::from(probe.expect("a cookie is on its way").cookie_name())
    }

    fn cookie_back(&mut self) {
        for _ in 0..N_COOKIES {
            let path = self.cookie();
            self.view.on_cookie_event(&path);
            self.probe(&Ok(()));
        }
    }

    fn start(&mut self) -> Option<ReconcileScope> {
        self.view.start_reconcile(self.now)
    }

    fn end(&mut self, scope: &ReconcileScope, failed: Option<&str>) {
        self.view.end_reconcile(scope, failed.map(str::to_owned), self.now);
    }

    fn end_with(&mut self, scope: &ReconcileScope, missed: &MissedFiles) {
        self.end(scope, None);
        self.view.requeue_if_files_moved(missed);
        self.probe(&Ok(()));
    }

    /// Ends a reconcile that met something gone.
    fn end_moving(&mut self, scope: &ReconcileScope) {
        self.end_with(scope, &MissedFiles { moving: Some(SourceKey::new("gone")), ..MissedFiles::default() });
    }

    /// Ends a reconcile that listed a directory.
    fn end_listed(&mut self, scope: &ReconcileScope) {
        self.end_with(scope, &MissedFiles { listed: true, ..MissedFiles::default() });
    }

    /// Runs the next reconcile, which must be of this scope.
    fn reconcile(&mut self, scope: &ReconcileScope) {
        assert_eq!(self.start().as_ref(), Some(scope));
        self.end(scope, None);
    }

    /// Whether the answer is there, and says fresh.
    fn fresh(&mut self, answer: &mut Answer) -> Option<bool> {
        self.freshness(answer).map(|freshness| freshness.fresh)
    }

    fn freshness(&mut self, answer: &mut Answer) -> Option<Freshness> {
        self.view.answer_requests(self.now, &self.rounds, &Progress::default());
        let freshness = answer.try_recv().ok()?.unwrap();
        assert_eq!(freshness.fresh, freshness.reason.is_none());
        Some(freshness)
    }

    fn pass(&mut self, time: Duration) {
        self.pass_silent(time);
        self.probe(&Ok(()));
    }

    fn pass_silent(&mut self, time: Duration) {
        self.now += time;
        self.view.expire_cookie(self.now);
    }
}

fn paths(paths: &[&str]) -> ReconcileScope {
    ReconcileScope::Paths(paths.iter().map(|path| SourceKey::new(*path)).collect())
}

#[test]
fn fresh_once_the_cookie_is_back_and_what_was_dirty_then_is_indexed() {
    let mut bench = Bench::walked();
    let mut answer = bench.ask(FreshnessLevel::Fs);
    assert_eq!(bench.fresh(&mut answer), None);
    bench.mark_dirty("a");
    bench.cookie_back();
    assert_eq!(bench.fresh(&mut answer), None);
    bench.reconcile(&paths(&["a"]));
    assert_eq!(bench.fresh(&mut answer), Some(true));
    assert_eq!(bench.view.deadline(bench.now), None, "idle means no wake-up");
}

#[test]
fn a_running_reconcile_does_not_serve_what_changed_since_it_began() {
    let mut bench = Bench::walked();
    bench.mark_dirty("a");
    bench.pass(60 * MS);
    assert_eq!(bench.start(), Some(paths(&["a"])));
    let mut answer = bench.ask(FreshnessLevel::Fs);
    bench.mark_dirty("b");
    bench.cookie_back();
    bench.end(&paths(&["a"]), None);
    assert_eq!(bench.fresh(&mut answer), None);
    bench.reconcile(&paths(&["b"]));
    assert_eq!(bench.fresh(&mut answer), Some(true));
}

#[test]
fn a_cookie_made_earlier_does_not_serve_a_later_request() {
    let mut bench = Bench::walked();
    let mut first = bench.ask(FreshnessLevel::Fs);
    let mut second = bench.ask(FreshnessLevel::Fs);
    bench.cookie_back();
    assert_eq!((bench.fresh(&mut first), bench.fresh(&mut second)), (Some(true), None));
    bench.cookie_back();
    assert_eq!(bench.fresh(&mut second), Some(true));
}

#[test]
fn a_directory_that_is_not_watched_makes_everybody_wait_for_a_walk() {
    let mut bench = Bench::walked();
    bench.mark_dirty("dir");
    let mut early = bench.ask(FreshnessLevel::Fs);
    bench.cookie_back();
    assert_eq!(bench.start(), Some(paths(&["dir"])));
    let mut late = bench.ask(FreshnessLevel::Fs);
    let cookie = bench.cookie();
    bench.view.mark_unwatched(None);
    bench.probe(&Ok(()));
    bench.end(&paths(&["dir"]), None);
    bench.view.on_cookie_event(&cookie);
    assert_eq!((bench.fresh(&mut early), bench.fresh(&mut late)), (None, None));
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!((bench.fresh(&mut early), bench.fresh(&mut late)), (Some(true), Some(true)));
    let mut next = bench.ask(FreshnessLevel::Fs);
    assert_eq!(bench.fresh(&mut next), None, "no cookie is believed any more");
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut next), Some(true));
}

#[test]
fn a_watcher_that_is_late_is_believed_again_once_its_cookie_is_back() {
    let mut bench = Bench::walked();
    let mut answer = bench.ask(FreshnessLevel::Fs);
    let cookie = bench.cookie();
    bench.pass(COOKIE_TIMEOUT);
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), Some(true));
    let mut polled = bench.ask(FreshnessLevel::Fs);
    bench.view.on_cookie_event(&cookie);
    assert_eq!(bench.fresh(&mut polled), None);
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut polled), Some(true));
    let mut watched = bench.ask(FreshnessLevel::Fs);
    assert_eq!((bench.start(), bench.fresh(&mut watched)), (None, None));
    bench.cookie_back();
    assert_eq!(bench.fresh(&mut watched), Some(true));
}

#[test]
fn an_emptied_index_is_not_fresh_before_a_walk_of_its_own() {
    let mut bench = Bench::walked();
    bench.view.mark_all_dirty(bench.now);
    let mut answer = bench.ask(FreshnessLevel::Strict);
    assert_eq!(bench.start(), Some(ReconcileScope::Full));
    bench.view.begin_clear();
    bench.end(&ReconcileScope::Full, None); // of the index that is about to go
    assert_eq!(bench.fresh(&mut answer), None);
    bench.mark_dirty("a");
    bench.pass(60 * MS);
    assert_eq!(bench.start(), Some(paths(&["a"])));
    bench.view.end_clear(bench.now);
    bench.end(&paths(&["a"]), None);
    assert_eq!(bench.fresh(&mut answer), None);
    bench.pass(60 * MS);
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), Some(true));
}

#[test]
fn what_a_failed_reconcile_left_undone_is_found_by_a_walk() {
    let mut bench = Bench::walked();
    bench.view.mark_git_changed(bench.now);
    let mut answer = bench.ask(FreshnessLevel::Fs);
    bench.cookie_back();
    bench.due.try_iter().for_each(drop);
    assert_eq!(bench.start(), Some(paths(&[])));
    assert!(bench.due.try_recv().unwrap().git_changed);
    bench.end(&paths(&[]), Some("disk full"));
    assert_eq!(bench.fresh(&mut answer), Some(false));
    assert_eq!(bench.start(), None, "nobody waits: not at once");
    let mut again = bench.ask(FreshnessLevel::Fs);
    bench.cookie_back();
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut again), Some(true));
}

/// `init` gives up on what has failed, and not while that is tried again.
#[test]
fn a_failure_is_reported_once_the_last_attempt_has_failed() {
    let mut bench = Bench::walked();
    for fails in [true, false] {
        bench.mark_dirty("a");
        let mut answer = bench.ask(FreshnessLevel::Fs);
        bench.cookie_back();
        let scope = bench.start().expect("somebody waits");
        bench.pass_silent(WAIT);
        let late = bench.freshness(&mut answer).expect("the deadline has passed");
        assert_eq!((late.fresh, late.failed), (false, None));
        bench.end(&scope, fails.then_some("disk full"));
        let mut answer = bench.ask(FreshnessLevel::Fs);
        bench.cookie_back();
        let scope = fails.then(|| bench.start().expect("it is tried again"));
        scope.inspect(|scope| bench.end(scope, Some("disk full")));
        let told = bench.freshness(&mut answer).expect("nothing is left to wait for");
        assert_eq!((told.fresh, told.failed.as_deref()), (!fails, fails.then_some("disk full")));
    }
}

#[test]
fn what_must_be_read_again_is_waited_for() {
    let mut bench = Bench::walked();
    bench.mark_dirty("a");
    let mut answer = bench.ask(FreshnessLevel::Fs);
    bench.cookie_back();
    assert_eq!(bench.start(), Some(paths(&["a"])));
    bench.view.retry_paths(vec![SourceKey::new("a")], bench.now);
    bench.end(&paths(&["a"]), None);
    assert_eq!(bench.fresh(&mut answer), None);
    bench.reconcile(&paths(&["a"]));
    assert_eq!(bench.fresh(&mut answer), Some(true));
}

#[test]
fn without_waiting_nothing_is_claimed_that_is_not_known() {
    let mut bench = Bench::walked();
    let check = |bench: &mut Bench, expected| {
        let mut answer = bench.ask(FreshnessLevel::None);
        assert_eq!(bench.fresh(&mut answer), Some(expected));
    };
    check(&mut bench, true);
    bench.mark_dirty("a");
    check(&mut bench, false);
    bench.pass(60 * MS);
    assert_eq!(bench.start(), Some(paths(&["a"])));
    check(&mut bench, false);
    bench.end(&paths(&["a"]), None);
    check(&mut bench, true);
    bench.view.mark_unwatched(None);
    bench.pass(RESCAN_DELAYS.0);
    bench.reconcile(&ReconcileScope::Full);
    check(&mut bench, false);
}

#[test]
fn embeddings_are_waited_for_and_their_failure_is_told() {
    for (error, expected) in [(None, true), (Some("no model".to_owned()), false)] {
        let mut bench = Bench::walked();
        bench.rounds = EmbeddingRounds { asked: 3, done: 2, error, ..EmbeddingRounds::default() };
        let mut answer = bench.ask(FreshnessLevel::Full);
        bench.cookie_back();
        assert_eq!(bench.fresh(&mut answer), None);
        bench.rounds.done = 3;
        assert_eq!(bench.fresh(&mut answer), Some(expected));
    }
}

#[test]
fn nobody_waits_longer_than_asked() {
    let mut bench = Bench::new();
    assert_eq!(bench.start(), Some(ReconcileScope::Full));
    let mut answers =
        [FreshnessLevel::Fs, FreshnessLevel::Full, FreshnessLevel::Strict].map(|level| bench.ask(level));
    for _ in 0..9 {
        let Some(due) = bench.view.deadline(bench.now) else { break };
        bench.pass(due.saturating_duration_since(bench.now));
        bench.view.answer_requests(bench.now, &bench.rounds, &Progress::default());
    }
    for answer in &mut answers {
        assert_eq!(bench.fresh(answer), Some(false));
    }
    assert_eq!(bench.view.deadline(bench.now), None);
}

#[test]
fn how_far_the_index_is_is_what_is_known() {
    let check = |was_complete: bool, files: (u64, u64), expected: &str| {
        let mut bench = Bench::new();
        bench.view.built = was_complete;
        let mut answer = bench.ask(FreshnessLevel::None);
        assert_eq!(bench.start(), Some(ReconcileScope::Full));
        bench.view.reconciler.progress.begin_reading(files.1, 0);
        bench.view.reconciler.progress.add_done_files(files.0);
        bench.view.answer_requests(bench.now, &bench.rounds, &Progress::default());
        assert_eq!(answer.try_recv().unwrap().unwrap().reason.as_deref(), Some(expected));
    };
    check(false, (0, 0), "the index is being built");
    check(false, (2, 3), "the index is being built: 2 of 3 files");
    check(true, (0, 0), "the index is being compared with the worktree");
    check(true, (0, 3), "the index is being compared with the worktree: 0 of 3 files");
}

#[test]
fn a_loss_of_events_under_a_probe_does_not_make_the_watcher_late() {
    let mut bench = Bench::walked();
    let mut answer = bench.ask_silent(FreshnessLevel::Fs);
    bench.view.mark_all_dirty(bench.now);
    bench.probe(&Ok(())); // its event was among the lost
    assert_eq!(bench.fresh(&mut answer), None);
    bench.reconcile(&ReconcileScope::Full);
    assert_eq!(bench.fresh(&mut answer), Some(true));
    assert_eq!(bench.view.deadline(bench.now), None, "nothing is waited for");
}

#[test]
fn embedding_that_failed_is_tried_again_for_who_asks() {
    let (mut rounds, now) = (EmbeddingRounds { asked: 1, ..EmbeddingRounds::default() }, Instant::now());
    rounds.end_round(1, None, now);
    assert!(!rounds.is_retry_due(FreshnessLevel::Full, now + EMBED_RETRY_DELAY), "nothing failed");
    rounds.end_round(1, Some("no room".to_owned()), now);
    assert!(!rounds.is_retry_due(FreshnessLevel::Fs, now), "a moment ago");
    assert!(rounds.is_retry_due(FreshnessLevel::Full, now), "who waits for embeddings");
    assert!(rounds.is_retry_due(FreshnessLevel::None, now + EMBED_RETRY_DELAY));
    rounds.asked = 2;
    assert!(!rounds.is_retry_due(FreshnessLevel::Full, now + EMBED_RETRY_DELAY), "it is under way");
}
