use std::path::Path;
use std::sync::mpsc::channel;

use memod_base::paths::{Env, RepoLayout};
use memod_base::types::WorktreeId;
use memod_config::Config;
use memod_index_db::WorktreeRow;
use memod_indexing::{IndexError, Indexer, MissedFiles, Progress, ReadLimits, ReconcileOutcome};
use memod_proto::FreshnessLevel;
use memod_watch::{FsChange, Role, Watch, WatchEvent};
use tokio::sync::oneshot;

use super::*;
use crate::engine::EngineOptions;
use crate::freshness::{Freshness, WorktreeReport};
use crate::messages::disk_task::{
    DiskReport, ExistenceCheck, GitSettings, OpenedWorktree, ProbeResult, ReconcileRequest,
    ReconcileThreadHandle,
};
use crate::messages::loop_event::{PendingRequest, ReconcileEnd};
use crate::model_registry::ModelRegistry;

/// A loop whose jobs are done by hand, and whose worktrees are looked at by hand.
struct Bench {
    main_loop: MainLoop,
    jobs: Receiver<WriterJob>,
    tasks: Vec<(ThreadNumber, Receiver<DiskTask>)>,
    due: Vec<(WorktreeId, Receiver<ReconcileRequest>)>,
    temp: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let env = Env { uid: memod_base::paths::effective_uid(), ..Env::default() };
        let layout = RepoLayout::locate_or_assume_root(temp.path(), &env).unwrap();
        let (watch, progress) = (Watch::start(|_| true).unwrap(), Arc::new(Progress::default()));
        let reading = ReadLimits { max_file_bytes: 0, n_threads: 0 };
        let indexer = Indexer::new(&layout.index_file(), Path::new("memod"), reading, Arc::clone(&progress));
        let parts = EngineOptions {
            socket: temp.path().join("run/socket"),
            layout,
            env,
            config: Config::default(),
            models: Arc::new(ModelRegistry::only_builtin()),
            indexer,
            progress,
        };
        let engine = Engine::new(parts, watch, channel().0, Arc::default());
        let ((jobs, job_queue), (rounds, _)) = (channel(), channel());
        let main_loop = MainLoop::new(Arc::new(engine), jobs, rounds, channel().0);
        Self { main_loop, jobs: job_queue, tasks: Vec::new(), due: Vec::new(), temp }
    }

    fn handle(&mut self, event: LoopEvent) {
        self.main_loop.handle_event(event, Instant::now());
    }

    fn layout(&self, name: &str) -> RepoLayout {
        let root = self.temp.path().join(name);
        RepoLayout { git_dir: Some(root.join(".git")), root, ..self.main_loop.engine.layout.clone() }
    }

    /// Opens a worktree of this name.
    fn open(&mut self, id: i64, name: &str) -> WorktreeId {
        let layout = self.layout(name);
        std::fs::create_dir_all(layout.root.join(".git")).unwrap();
        let (disk, tasks) = channel();
        let thread = id as ThreadNumber;
        self.main_loop
            .opening
            .insert(layout.root.clone(), OpeningWorktree { thread, disk, requests: Vec::new() });
        let (walker, due) = ReconcileThreadHandle::new();
        self.tasks.push((thread, tasks));
        self.due.push((WorktreeId(id), due));
        let row = WorktreeRow { id: WorktreeId(id), head: None, epoch: 0, seq: 0, complete: false };
        let settings = GitSettings { changed: false, exclude_files: Vec::new(), unwatched: None };
        let opened =
            Box::new(OpenedWorktree { layout, row, reconciler: walker, settings, unreliable_events: None });
        self.handle(LoopEvent::Opened { thread, result: Ok(opened) });
        WorktreeId(id)
    }

    /// Has the file system of every worktree but one answer.
    fn look(&mut self, silent: Option<WorktreeId>) {
        let root = |main_loop: &MainLoop, thread| {
            main_loop
                .worktrees
                .values()
                .find(|view| view.thread == thread)
                .map(|view| view.layout.root.clone())
        };
        for (thread, tasks) in std::mem::take(&mut self.tasks) {
            let answers = silent.is_none_or(|view| view.0 as ThreadNumber != thread);
            while let Some(task) = tasks.try_recv().ok().filter(|_| answers) {
                let is_dir = |path: &Path| path.is_dir();
                let exists = root(&self.main_loop, thread).is_some_and(|root| is_dir(&root));
                let report = match task {
                    DiskTask::Probe { number, .. } => {
                        DiskReport::Probed(ProbeResult { number, cookie: Ok(()), tip: None, settings: None })
                    }
                    DiskTask::WatchGitDirs { recovery } => DiskReport::Watched { recovery, unwatched: None },
                    DiskTask::CheckExistence => {
                        DiskReport::Existence(ExistenceCheck { is_known: exists, exists })
                    }
                    _ => continue,
                };
                self.handle(LoopEvent::Disk { thread, report });
            }
            self.tasks.push((thread, tasks));
        }
    }

    fn ask(
        &mut self,
        name: &str,
        level: FreshnessLevel,
        within: Duration,
    ) -> oneshot::Receiver<Result<Freshness, RpcError>> {
        let (reply, answer) = oneshot::channel();
        let ask = PendingRequest::new(self.layout(name), level, Instant::now() + within, reply);
        self.handle(LoopEvent::Request(ask));
        answer
    }

    /// Ends a walk of a worktree.
    fn end(
        &mut self,
        view: WorktreeId,
        result: Result<ReconcileOutcome, IndexError>,
        unwatched: Option<&str>,
    ) {
        let unwatched = unwatched.map(str::to_owned);
        self.handle(LoopEvent::ReconcileEnded(Box::new(ReconcileEnd {
            thread: view.0 as ThreadNumber,
            scope: ReconcileScope::Full,
            result,
            head: None,
            unwatched,
            existence: None,
        })));
    }

    /// What `status` says does not work, without names of this machine.
    fn degraded(&mut self) -> Vec<String> {
        let (reply, mut reports) = oneshot::channel();
        self.handle(LoopEvent::ReportRequested(reply));
        self.look(None);
        self.main_loop.end_status_waits(Instant::now());
        let degraded =
            reports.try_recv().unwrap().into_iter().flat_map(|report: WorktreeReport| report.degraded);
        let root = self.main_loop.engine.layout.root.display().to_string();
        degraded.map(|line| line.replace(&root, "").replace('\\', "/")).collect()
    }
}

#[test]
fn what_does_not_work_of_one_worktree_is_said_until_that_one_recovers() {
    let mut bench = Bench::new();
    let (one, two) = (bench.open(1, "one"), bench.open(2, "two"));
    bench.end(one, Err(IndexError::Cancelled), None);
    bench.end(two, Ok(ReconcileOutcome::default()), Some("/two/d: not watched"));
    let cancelled = format!("index: /one: {}", IndexError::Cancelled);
    let unwatched = "watch: /two/d: not watched".to_owned();
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
    assert!(bench.jobs.try_iter().any(|job| matches!(job, WriterJob::ForgetWorktree(WorktreeId(1)))));
}

#[test]
fn what_could_not_be_listed_is_looked_at_again_when_a_directory_can() {
    let mut bench = Bench::new();
    let one = bench.open(1, "one");
    bench.main_loop.start_due_work(Instant::now() + Duration::from_secs(9)); // the first walk has begun
    let problems = vec!["list /one/d: permission denied".to_owned()];
    bench.end(one, Ok(ReconcileOutcome { whole: true, problems, ..ReconcileOutcome::default() }), None);
    let listed = || ReconcileOutcome {
        missed: MissedFiles { listed: true, ..MissedFiles::default() },
        ..ReconcileOutcome::default()
    };
    let dirty = |bench: &Bench| bench.main_loop.worktrees.values().any(WorktreeState::is_dirty);
    bench.end(one, Ok(ReconcileOutcome::default()), None);
    assert!(!dirty(&bench), "a file says nothing of a directory");
    bench.end(one, Ok(listed()), None);
    assert!(dirty(&bench));
    assert_eq!(bench.degraded().len(), 1, "it is said until the walk has ended");
    bench.end(one, Ok(ReconcileOutcome { whole: true, ..listed() }), None);
    assert_eq!(bench.degraded(), [""; 0]);
}

#[test]
fn settings_that_are_read_for_an_event_tell_what_a_probe_would_have() {
    let mut bench = Bench::new();
    let one = bench.open(1, "one");
    bench.main_loop.start_due_work(Instant::now() + Duration::from_secs(9));
    bench.end(one, Ok(ReconcileOutcome { whole: true, ..ReconcileOutcome::default() }), None);
    let mut is_dirty_after = |changed| {
        let settings = GitSettings { changed, exclude_files: Vec::new(), unwatched: None };
        bench.handle(LoopEvent::Disk { thread: 1, report: DiskReport::Settings(settings) });
        bench.main_loop.worktrees.values().any(WorktreeState::is_dirty)
    };
    assert!(!is_dirty_after(false));
    assert!(is_dirty_after(true), "the next probe will find the files as they were read here");
}

#[test]
fn what_we_write_ourselves_is_no_change() {
    let mut bench = Bench::new();
    let one = bench.open(1, "one");
    bench.main_loop.start_due_work(Instant::now() + Duration::from_secs(9));
    bench.end(one, Ok(ReconcileOutcome { whole: true, ..ReconcileOutcome::default() }), None);
    let root = bench.temp.path().join("one");
    let view = bench.main_loop.worktrees.values_mut().next().unwrap();
    (view.layout.git_dir, view.layout.state_dir) = (None, root.join(".memo"));
    let mut is_dirty_after = |name| {
        let change = FsChange { worktree: one, role: Role::Worktree, path: root.join(name) };
        bench.handle(LoopEvent::Watch(WatchEvent::Changed(vec![change])));
        bench.main_loop.worktrees.values().any(WorktreeState::is_dirty)
    };
    assert!(!is_dirty_after(".memo/index.db-wal"));
    assert!(is_dirty_after("a.md"));
}

#[test]
fn a_flood_of_events_does_not_postpone_an_answer() {
    const EVENTS: usize = 500;
    const CHANGES: usize = 1_000;
    let mut bench = Bench::new();
    bench.open(1, "one");
    let engine = Arc::clone(&bench.main_loop.engine);
    let (sender, events) = channel();
    let (reply, answer) = oneshot::channel();
    // Nobody does the jobs: whoever waits for one is answered at its deadline, which is over.
    let ask = PendingRequest::new(bench.layout("one"), FreshnessLevel::Fs, Instant::now(), reply);
    sender.send(LoopEvent::Request(ask)).unwrap();
    let change =
        FsChange { worktree: WorktreeId(1), role: Role::Worktree, path: bench.temp.path().join("one/a") };
    for _ in 0..EVENTS {
        let event = WatchEvent::Changed(vec![change.clone(); CHANGES]);
        sender.send(LoopEvent::Watch(event)).unwrap();
    }
    let looping = std::thread::spawn(move || bench.main_loop.run(&events, false));
    let answer = answer.blocking_recv().unwrap();
    let n_taken = engine.fs_events.load(Ordering::Relaxed);
    assert!(!answer.unwrap().fresh);
    assert!(n_taken < (EVENTS * CHANGES / 2) as u64, "{n_taken} changes were taken first");
    sender.send(LoopEvent::Stop("the test is over")).unwrap();
    looping.join().unwrap();
}

#[test]
fn a_file_system_that_hangs_holds_up_its_own_worktree_alone() {
    let mut bench = Bench::new();
    let (dead, live) = (bench.open(1, "dead"), bench.open(2, "live"));
    for view in [dead, live] {
        bench.main_loop.start_due_work(Instant::now());
        bench.end(view, Ok(ReconcileOutcome { whole: true, ..ReconcileOutcome::default() }), None);
    }
    bench.due.iter().for_each(|(_, due)| due.try_iter().for_each(drop));
    let mut from_dead =
        [FreshnessLevel::Fs, FreshnessLevel::Strict].map(|level| bench.ask("dead", level, Duration::ZERO));
    let mut from_live = bench.ask("live", FreshnessLevel::Strict, Duration::from_secs(60));
    bench.look(Some(dead));
    bench.main_loop.start_due_work(Instant::now() + Duration::from_secs(1));
    let walked = bench.due.iter().filter(|(_, due)| due.try_iter().next().is_some());
    let walked: Vec<WorktreeId> = walked.map(|(view, _)| *view).collect();
    assert_eq!(walked, [live], "who walked the other would hang");
    bench.end(live, Ok(ReconcileOutcome { whole: true, ..ReconcileOutcome::default() }), None);
    bench.main_loop.start_due_work(Instant::now());
    assert!(from_live.try_recv().unwrap().unwrap().fresh);
    for answer in &mut from_dead {
        let freshness = answer.try_recv().unwrap().unwrap();
        let reason = freshness.reason.unwrap();
        assert!(
            !freshness.fresh && reason.ends_with("dead: its file system has not answered yet"),
            "{reason}"
        );
    }
    let (reply, mut reports) = oneshot::channel();
    bench.handle(LoopEvent::ReportRequested(reply));
    bench.look(Some(dead));
    bench.main_loop.end_status_waits(Instant::now());
    assert!(reports.try_recv().is_err(), "it may answer yet");
    bench.main_loop.end_status_waits(Instant::now() + STATUS_WAIT);
    let told: Vec<usize> = reports.try_recv().unwrap().iter().map(|report| report.degraded.len()).collect();
    assert_eq!(told, [1, 0]);
}

#[test]
fn a_worktree_whose_thread_panicked_is_opened_anew() {
    let mut bench = Bench::new();
    bench.open(1, "one");
    let mut answer = bench.ask("one", FreshnessLevel::Fs, Duration::from_secs(60));
    bench.handle(LoopEvent::Disk { thread: 1, report: DiskReport::Panicked });
    assert!(bench.main_loop.worktrees.is_empty() && answer.try_recv().is_err());
    let opening: Vec<_> = bench.main_loop.opening.values().collect();
    assert_eq!((opening.len(), opening[0].requests.len()), (1, 1));
}

#[test]
fn whoever_asks_for_anything_puts_off_the_idle_exit() {
    let mut bench = Bench::new();
    let minutes = bench.main_loop.engine.config.daemon.idle_exit_minutes;
    let over = Instant::now() + Duration::from_secs(minutes * 60);
    assert!(bench.main_loop.is_idle(over));
    while bench.main_loop.engine.last_use() + Duration::from_secs(minutes * 60) <= over {
        bench.main_loop.engine.record_use(); // as each method does, those for memories too
    }
    assert!(!bench.main_loop.is_idle(over));
}
