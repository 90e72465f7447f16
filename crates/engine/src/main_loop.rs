//! The loop that owns all mutable state of the daemon.
//!
//! Events come in and jobs go out; the result of a job comes back as an event. When nothing is pending, the loop sleeps
//! with no timer but that of the idle exit. `open_worktrees` opens and closes worktrees, `file_changes` handles events of the
//! watcher, `disk_reports` the results of a worktree's thread, and `reconcile_end` the end of a reconcile.
//!
//! Invariant: the loop accesses no file system except the kernel's table of mounts, because a file system that hangs would
//! block every worktree.

mod disk_reports;
mod file_changes;
mod open_worktrees;
mod reconcile_end;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use memod_indexing::ReconcileScope;
use memod_proto::{RpcError, code};
use memod_watch::MountTable;
use tokio::sync::oneshot;

use super::freshness::WorktreeReport;
use super::worktree::{EmbeddingRounds, WorktreeState};
use crate::engine::Engine;
use crate::events::subscriptions::TopicSet;
use crate::messages::disk_task::{DiskTask, ThreadNumber};
use crate::messages::loop_event::{LoopEvent, PendingRequest};
use crate::messages::writer_job::WriterJob;

/// Difference between wall clock and monotonic clock from which on the machine must have slept or the clock was set.
const CLOCK_JUMP: Duration = Duration::from_secs(5);
/// Time after its deadline that a request still waits for its worktree to be opened, because until then it can only fail.
const OPEN_GRACE: Duration = Duration::from_secs(5);
/// Time that `status` waits for the file system of each worktree.
const STATUS_WAIT: Duration = Duration::from_millis(500);
/// Time limit for handling further queued events before due answers are sent.
const DRAIN: Duration = Duration::from_millis(20);

/// The loop and its state.
pub(super) struct MainLoop {
    engine: Arc<Engine>,
    jobs: Sender<WriterJob>,
    rounds: Sender<u64>,
    worktrees: HashMap<PathBuf, WorktreeState>,
    opening: HashMap<PathBuf, OpeningWorktree>,
    /// Number of worktrees opened so far.
    n_threads: ThreadNumber,
    pending_statuses: Vec<PendingStatus>,
    embedding: EmbeddingRounds,
    /// When to compare worktrees with the state that was published to subscribers, if no event comes before.
    news_due_at: Option<Instant>,
    /// Reconciles until the next garbage collection.
    collect_in: u64,
    last_request: Instant,
    /// The monotonic and the wall clock when they were compared last.
    clocks: (Instant, SystemTime),
    mounts: MountTable,
    /// Asks the thread `own-files` to check that clients still find the daemon's files.
    own_files: Sender<()>,
}

/// A worktree that is being opened.
struct OpeningWorktree {
    thread: ThreadNumber,
    disk: Sender<DiskTask>,
    requests: Vec<PendingRequest>,
}

/// A `status` request that waits for the file systems of the worktrees.
struct PendingStatus {
    reply: oneshot::Sender<Vec<WorktreeReport>>,
    /// Worktrees whose file system has not answered yet.
    waits_for: HashSet<ThreadNumber>,
    until: Instant,
}

impl MainLoop {
    pub(super) fn new(
        engine: Arc<Engine>,
        jobs: Sender<WriterJob>,
        rounds: Sender<u64>,
        own_files: Sender<()>,
    ) -> Self {
        Self {
            engine,
            jobs,
            rounds,
            own_files,
            worktrees: HashMap::new(),
            opening: HashMap::new(),
            n_threads: 0,
            pending_statuses: Vec::new(),
            embedding: EmbeddingRounds::default(),
            news_due_at: None,
            collect_in: 0,
            last_request: Instant::now(),
            clocks: (Instant::now(), SystemTime::now()),
            mounts: MountTable::read(),
        }
    }

    /// Runs until the daemon is to stop; returns the reason. With `index_on_demand`, a worktree is opened only when a request needs
    /// it.
    pub(super) fn run(mut self, events: &Receiver<LoopEvent>, index_on_demand: bool) -> &'static str {
        if !index_on_demand {
            self.open_worktree(self.engine.layout.clone(), None);
            self.request_embedding_round();
        }
        loop {
            let event = match events.recv_timeout(self.time_until_due()) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return "the channel of events is closed",
            };
            let now = Instant::now();
            self.check_clock(now);
            match event {
                Some(LoopEvent::Stop(why)) => return why,
                Some(event) => self.handle_event(event, now),
                None if self.is_idle(now) => return "idle",
                None => {}
            }
            // Handle all queued events first, so that one reconcile covers them; but a flood must not delay answers.
            while now.elapsed() < DRAIN
                && let Ok(event) = events.try_recv()
            {
                match event {
                    LoopEvent::Stop(why) => return why,
                    event => self.handle_event(event, now),
                }
            }
            self.start_due_work(Instant::now());
        }
    }

    /// Requests a check whether clients still find this daemon, after a change of its state dir or socket.
    fn check_own_files(&self) {
        let _ = self.own_files.send(()); // the thread `own-files` ends only after the loop
    }

    fn handle_event(&mut self, event: LoopEvent, now: Instant) {
        match event {
            LoopEvent::Watch(event) => {
                self.engine.watch_queue.record_taken_event(&event);
                self.on_watch_event(event, now);
            }
            LoopEvent::Request(request) => self.on_request(request, now),
            LoopEvent::Opened { thread, result } => self.on_opened(thread, result, now),
            LoopEvent::Disk { thread, report } => self.on_disk_report(thread, report, now),
            LoopEvent::ReconcileEnded(indexed) => self.on_reconcile_end(*indexed, now),
            LoopEvent::CommitStepEnded { worktree, tip, result } => {
                self.on_commit_step(worktree, tip, result);
            }
            LoopEvent::EmbeddingEnded { round, error } => self.embedding.end_round(round, error, now),
            LoopEvent::Reindex => {
                self.worktrees.values_mut().for_each(WorktreeState::begin_clear);
                let _ = self.jobs.send(WriterJob::ClearIndex); // the writer ends only after the loop
            }
            LoopEvent::ModelChosen => self.request_embedding_round(),
            LoopEvent::Cleared => self.worktrees.values_mut().for_each(|worktree| worktree.end_clear(now)),
            LoopEvent::ReportRequested(reply) => self.begin_status_wait(reply, now),
            LoopEvent::Subscribed => {} // `publish_news` follows each event
            LoopEvent::Stop(_) => unreachable!("`run` handles it"),
        }
    }

    /// Starts due work and answers requests whose wait is over.
    fn start_due_work(&mut self, now: Instant) {
        for worktree in self.worktrees.values_mut() {
            worktree.expire_cookie(now);
            let was_complete = worktree.complete;
            if let Some(scope) = worktree.start_reconcile(now) {
                if scope == ReconcileScope::Full && was_complete {
                    self.engine.rescans.fetch_add(1, Ordering::Relaxed);
                }
                self.engine.reconciles.fetch_add(1, Ordering::Relaxed);
            }
            // The writer ends only after the loop.
            if let Some(tip) = worktree.start_commits() {
                let _ = self.jobs.send(WriterJob::IndexCommits {
                    worktree: worktree.id,
                    layout: Box::new(worktree.layout.clone()),
                    tip,
                });
            }
            worktree.answer_requests(now, &self.embedding, &self.engine.progress);
        }
        for (root, opening) in &mut self.opening {
            for late in opening.requests.extract_if(.., |request| request.deadline + OPEN_GRACE <= now) {
                let why = "the index is busy, or the file system does not answer";
                let message = format!("{}: the worktree is still being opened: {why}", root.display());
                refuse_request(late, RpcError::new(code::BUSY, message));
            }
        }
        self.end_status_waits(now);
        self.publish_news(now);
    }

    /// Publishes the changes of each worktree. Does nothing without subscribers.
    fn publish_news(&mut self, now: Instant) {
        let Engine { events, progress, .. } = &*self.engine;
        self.news_due_at = None;
        if !events.has_subscriber(TopicSet::OF_INDEX) {
            return;
        }
        let next = self.worktrees.values().filter_map(|worktree| {
            let snapshot = worktree.snapshot(&self.embedding, progress);
            events.publish_worktree(&snapshot, || worktree.not_current_reason(progress), now)
        });
        self.news_due_at = next.min();
    }

    /// Returns the time until the loop must do something although no event comes.
    fn time_until_due(&self) -> Duration {
        let now = Instant::now();
        let worktrees = self.worktrees.values().filter_map(|worktree| worktree.deadline(now));
        let opening = self.opening.values().flat_map(|opening| &opening.requests);
        let opening = opening.map(|request| request.deadline + OPEN_GRACE);
        worktrees
            .chain(opening)
            .chain(self.pending_statuses.iter().map(|status| status.until))
            .chain(self.news_due_at)
            .chain(self.idle_at())
            .min()
            .map_or(Duration::MAX, |at| at.saturating_duration_since(now))
    }

    /// Returns the time of the idle exit; `None` if it is disabled.
    fn idle_at(&self) -> Option<Instant> {
        let minutes = self.engine.config.daemon.idle_exit_minutes;
        (minutes > 0)
            .then(|| self.last_request.max(self.engine.last_use()) + Duration::from_secs(minutes * 60))
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        if self.idle_at().is_none_or(|at| at > now) {
            return false;
        }
        let open = self.engine.connections.load(Ordering::SeqCst) > 0;
        if open {
            self.last_request = now;
        }
        !open
    }

    /// Marks every worktree dirty if the wall clock has jumped against the monotonic clock: after a sleep of the machine, events
    /// may be missing.
    fn check_clock(&mut self, now: Instant) {
        let wall = SystemTime::now();
        let (then, then_wall) = std::mem::replace(&mut self.clocks, (now, wall));
        let passed = now - then;
        let wall_passed = wall.duration_since(then_wall).unwrap_or(Duration::ZERO);
        if wall_passed.abs_diff(passed) > CLOCK_JUMP {
            tracing::info!("the clock jumped; comparing all worktrees with the index");
            self.worktrees.values_mut().for_each(|worktree| worktree.mark_all_dirty(now));
        }
    }
}

fn refuse_request(request: PendingRequest, error: RpcError) {
    let _ = request.reply.send(Err(error)); // the receiver may have gone
}

#[cfg(test)]
mod tests;
