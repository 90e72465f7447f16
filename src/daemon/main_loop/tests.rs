use std::sync::mpsc::{channel, sync_channel};

use tokio::sync::oneshot;

use super::*;
use crate::config::Config;
use crate::daemon::event::{Ask, Indexed, ViewReport};
use crate::daemon::memories::keeper::Memories;
use crate::index::{IndexError, Missed, Progress, ReconcileOutcome};
use crate::paths::Env;
use crate::store::ViewRow;
use crate::types::ViewId;
use crate::watch::{FsChange, Role, Watch};

/// A loop whose jobs are done by hand.
struct Bench {
    main_loop: MainLoop,
    jobs: Receiver<Job>,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let env = Env { uid: crate::paths::effective_uid(), ..Env::default() };
        let layout = RepoLayout::locate(temp.path(), &env).unwrap();
        let (index_db, socket) = (temp.path().join("index.db"), temp.path().join("run/socket"));
        let (events, _) = sync_channel(1);
        let (watch, progress) = (Watch::start(|_| true).unwrap(), Arc::new(Progress::default()));
        let memories = Memories::start(&layout.state_dir, false).unwrap();
        let shared =
            Shared::new(layout, env, Config::default(), index_db, socket, watch, progress, events, memories);
        let ((jobs, job_queue), (rounds, _)) = (channel(), channel());
        std::fs::create_dir(temp.path().join("run")).unwrap();
        Self { main_loop: MainLoop::new(Arc::new(shared), jobs, rounds), jobs: job_queue, temp }
    }

    fn handle(&mut self, event: Event) {
        self.main_loop.handle(event, Instant::now());
    }

    /// Opens a worktree of this name.
    fn open(&mut self, id: i64, name: &str) -> ViewId {
        let root = self.temp.path().join(name);
        let git_dir = Some(root.join(".git"));
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let layout = Box::new(RepoLayout { root, git_dir, ..self.main_loop.shared.layout.clone() });
        let row = ViewRow { id: ViewId(id), head: None, epoch: 0, seq: 0, complete: false };
        self.handle(Event::Opened { layout, row: Ok(row) });
        ViewId(id)
    }

    /// Ends a walk of a worktree.
    fn end(&mut self, view: ViewId, result: Result<ReconcileOutcome, IndexError>, unwatched: Option<&str>) {
        let unwatched = unwatched.map(str::to_owned);
        self.handle(Event::Indexed(Box::new(Indexed {
            view,
            scope: Scope::Full,
            result,
            head: None,
            unwatched,
        })));
    }

    /// What `status` says does not work, without names of this machine.
    fn degraded(&mut self) -> Vec<String> {
        let (reply, mut reports) = oneshot::channel();
        self.handle(Event::Views(reply));
        let degraded = reports.try_recv().unwrap().into_iter().flat_map(|report: ViewReport| report.degraded);
        let root = self.main_loop.shared.layout.root.display().to_string();
        degraded.map(|line| line.replace(&root, "")).collect()
    }
}

#[test]
fn what_does_not_work_of_one_worktree_is_said_until_that_one_recovers() {
    let mut bench = Bench::new();
    let (one, two) = (bench.open(1, "one"), bench.open(2, "two"));
    bench.end(one, Err(IndexError::Cancelled), None);
    bench.end(two, Ok(ReconcileOutcome::default()), Some("/two/d: not watched"));
    let cancelled = format!("index: /one: {}", IndexError::Cancelled);
    let unwatched = format!("watch: {}", views::with_remedy(&"/two/d: not watched"));
    assert_eq!(bench.degraded(), [cancelled, unwatched.clone()], "the other's success clears nothing");
    bench.end(one, Ok(ReconcileOutcome::default()), None);
    assert_eq!(bench.degraded(), [unwatched], "the other's walk could watch everything");
    bench.end(two, Ok(ReconcileOutcome::default()), None);
    assert_eq!(bench.degraded(), [""; 0]);
}

#[test]
fn what_did_not_work_of_a_worktree_goes_with_it() {
    let mut bench = Bench::new();
    let (one, _) = (bench.open(1, "one"), bench.open(2, "two"));
    bench.end(one, Ok(ReconcileOutcome::default()), Some("/one/d: not watched"));
    assert_eq!(bench.degraded().len(), 1);
    std::fs::remove_dir_all(bench.temp.path().join("one")).unwrap();
    assert_eq!(bench.degraded(), [""; 0]);
    assert!(bench.jobs.try_iter().any(|job| matches!(job, Job::Forget(ViewId(1)))));
}

#[test]
fn what_could_not_be_listed_is_looked_at_again_when_a_directory_can() {
    let mut bench = Bench::new();
    let one = bench.open(1, "one");
    bench.main_loop.advance(Instant::now() + Duration::from_secs(9)); // the first walk has begun
    let problems = vec!["list /one/d: permission denied".to_owned()];
    bench.end(one, Ok(ReconcileOutcome { whole: true, problems, ..ReconcileOutcome::default() }), None);
    let listed = || ReconcileOutcome {
        missed: Missed { listed: true, ..Missed::default() },
        ..ReconcileOutcome::default()
    };
    let dirty = |bench: &Bench| bench.main_loop.views.values().any(WorktreeState::is_dirty);
    bench.end(one, Ok(ReconcileOutcome::default()), None);
    assert!(!dirty(&bench), "a file says nothing of a directory");
    bench.end(one, Ok(listed()), None);
    assert!(dirty(&bench));
    assert_eq!(bench.degraded().len(), 1, "it is said until the walk has ended");
    bench.end(one, Ok(ReconcileOutcome { whole: true, ..listed() }), None);
    assert_eq!(bench.degraded(), [""; 0]);
}

#[test]
fn a_flood_of_events_does_not_postpone_an_answer() {
    const EVENTS: usize = 500;
    const CHANGES: usize = 1_000;
    let bench = Bench::new();
    let shared = Arc::clone(&bench.main_loop.shared);
    let (sender, events) = sync_channel(EVENTS + 1);
    let (reply, answer) = oneshot::channel();
    // The row never comes, for nobody does the jobs: whoever waits for it is turned away, late already.
    let deadline = Instant::now().checked_sub(OPEN_GRACE).unwrap();
    let (cwd, dirty) = (bench.temp.path().to_owned(), Vec::new());
    let ask = Ask {
        cwd,
        level: Sync::Fs,
        deadline,
        dirty,
        needs_commits: false,
        commits_round: 0,
        tries: 0,
        reply,
    };
    sender.send(Event::Ask(ask)).unwrap();
    let change = FsChange { view: ViewId(1), role: Role::Worktree, path: bench.temp.path().join("a") };
    for _ in 0..EVENTS {
        sender.send(Event::Watch(WatchEvent::Changed(vec![change.clone(); CHANGES]))).unwrap();
    }
    let looping = std::thread::spawn(move || bench.main_loop.run(&events));
    let answer = answer.blocking_recv().unwrap();
    let n_taken = shared.events.load(Ordering::Relaxed);
    assert_eq!(answer.unwrap_err().code, code::BUSY);
    assert!(n_taken < (EVENTS * CHANGES / 2) as u64, "{n_taken} changes were taken first");
    sender.send(Event::Stop("the test is over")).unwrap();
    looping.join().unwrap();
}
