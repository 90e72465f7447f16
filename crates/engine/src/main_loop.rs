//! The loop that owns all mutable state of the daemon.
//!
//! Events come in and jobs go out; the result of a job comes back as an event. When nothing is pending, the loop sleeps
//! with no timer but that of the idle exit. `views` opens and closes worktrees, `changes` handles events of the watcher,
//! `found` the results of a worktree's thread, and `indexed` the end of a reconcile.
//!
//! Invariant: the loop touches no file system except the kernel's table of mounts, because one that hangs would stall
//! every worktree.

mod changes;
mod found;
mod indexed;
mod views;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use memod_indexing::Scope;
use memod_proto::{RpcError, code};
use memod_watch::MountTable;
use tokio::sync::oneshot;

use super::Engine;
use super::disk::task::{DiskTask, Lane};
use super::event::{Ask, Event, ViewReport};
use super::subscriptions::Topics;
use super::worker::Job;
use super::worktree::{Rounds, WorktreeState};

/// Difference between wall clock and monotonic clock from which on the machine must have slept or the clock was set.
const CLOCK_JUMP: Duration = Duration::from_secs(5);
/// Extra time that a request waits for a worktree to be opened: without it the answer is an error.
const OPEN_GRACE: Duration = Duration::from_secs(5);
/// Time that `status` waits for the file system of each worktree.
const SURVEY: Duration = Duration::from_millis(500);
/// Time limit for handling queued events before due answers are sent.
const DRAIN: Duration = Duration::from_millis(20);

/// The loop and its state.
pub(super) struct MainLoop {
    engine: Arc<Engine>,
    jobs: Sender<Job>,
    rounds: Sender<u64>,
    views: HashMap<PathBuf, WorktreeState>,
    opening: HashMap<PathBuf, Opening>,
    /// Number of worktrees opened so far.
    n_lanes: Lane,
    surveys: Vec<PendingSurvey>,
    embedding: Rounds,
    /// When to look again for what subscribers are to be told.
    news_at: Option<Instant>,
    /// Reconciles until the next garbage collection.
    collect_in: u64,
    last_ask: Instant,
    clocks: (Instant, SystemTime),
    mounts: MountTable,
    /// Asks the thread `own-files` to check that clients still find the daemon's files.
    own_files: Sender<()>,
}

/// A worktree that is being opened.
struct Opening {
    lane: Lane,
    disk: Sender<DiskTask>,
    asks: Vec<Ask>,
}

/// A `status` that waits for the worktrees.
struct PendingSurvey {
    reply: oneshot::Sender<Vec<ViewReport>>,
    /// Worktrees whose file system has not answered yet.
    waits_for: HashSet<Lane>,
    until: Instant,
}

impl MainLoop {
    pub(super) fn new(
        engine: Arc<Engine>,
        jobs: Sender<Job>,
        rounds: Sender<u64>,
        own_files: Sender<()>,
    ) -> Self {
        Self {
            engine,
            jobs,
            rounds,
            own_files,
            views: HashMap::new(),
            opening: HashMap::new(),
            n_lanes: 0,
            surveys: Vec::new(),
            embedding: Rounds::default(),
            news_at: None,
            collect_in: 0,
            last_ask: Instant::now(),
            clocks: (Instant::now(), SystemTime::now()),
            mounts: MountTable::read(),
        }
    }

    /// Runs until the daemon is to stop; returns the reason. With `index_on_demand`, a worktree is opened only when it is asked for.
    pub(super) fn run(mut self, events: &Receiver<Event>, index_on_demand: bool) -> &'static str {
        if !index_on_demand {
            self.open(self.engine.layout.clone(), None);
            self.wake_embedder();
        }
        loop {
            let event = match events.recv_timeout(self.quiet_for()) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return "nobody is left to ask",
            };
            let now = Instant::now();
            self.check_clock(now);
            match event {
                Some(Event::Stop(why)) => return why,
                Some(event) => self.handle(event, now),
                None if self.is_idle(now) => return "idle",
                None => {}
            }
            // Handle all queued events first, so that one reconcile covers them; but a flood must not delay answers.
            while now.elapsed() < DRAIN
                && let Ok(event) = events.try_recv()
            {
                match event {
                    Event::Stop(why) => return why,
                    event => self.handle(event, now),
                }
            }
            self.advance(Instant::now());
        }
    }

    /// Asks for a check that clients still find this daemon, after a change of its state dir or socket.
    fn check_own_files(&self) {
        let _ = self.own_files.send(()); // who looks ends only after the loop
    }

    fn handle(&mut self, event: Event, now: Instant) {
        match event {
            Event::Watch(event) => {
                self.engine.watch_queue.pop(&event);
                self.on_watch(event, now);
            }
            Event::Ask(ask) => self.on_ask(ask, now),
            Event::Opened { lane, result } => self.on_opened(lane, result, now),
            Event::Disk { lane, report } => self.on_report(lane, report, now),
            Event::Indexed(indexed) => self.on_indexed(*indexed, now),
            Event::Commits { view, tip, result } => self.on_commits(view, tip, result),
            Event::Embedded { round, error } => self.embedding.end(round, error, now),
            Event::Reindex => {
                self.views.values_mut().for_each(WorktreeState::unsettle);
                let _ = self.jobs.send(Job::Clear); // the writer ends only after the loop
            }
            Event::ModelChosen => self.wake_embedder(),
            Event::Cleared => self.views.values_mut().for_each(|view| view.restart(now)),
            Event::Views(reply) => self.survey(reply, now),
            Event::Subscribed => {} // `tell_news` follows each event
            Event::Stop(_) => unreachable!("`run` takes it"),
        }
    }

    /// Starts due work and answers requests whose wait is over.
    fn advance(&mut self, now: Instant) {
        for view in self.views.values_mut() {
            view.expire_cookie(now);
            let was_complete = view.complete;
            if let Some(scope) = view.start(now) {
                if scope == Scope::Full && was_complete {
                    self.engine.rescans.fetch_add(1, Ordering::Relaxed);
                }
                self.engine.reconciles.fetch_add(1, Ordering::Relaxed);
            }
            // The writer ends only after the loop.
            if let Some(tip) = view.start_commits() {
                let _ = self.jobs.send(Job::Commits {
                    view: view.id,
                    layout: Box::new(view.layout.clone()),
                    tip,
                });
            }
            view.answer(now, &self.embedding, &self.engine.progress);
        }
        for (root, opening) in &mut self.opening {
            for late in opening.asks.extract_if(.., |ask| ask.deadline + OPEN_GRACE <= now) {
                let why = "the index is busy, or the file system does not answer";
                let message = format!("{}: not known yet, {why}", root.display());
                refuse(late, RpcError::new(code::BUSY, message));
            }
        }
        self.end_surveys(now);
        self.tell_news(now);
    }

    /// Tells subscribers what is new about each worktree. Does nothing while nobody listens.
    fn tell_news(&mut self, now: Instant) {
        let Engine { events, progress, .. } = &*self.engine;
        self.news_at = None;
        if !events.hears(Topics::OF_INDEX) {
            return;
        }
        let next = self.views.values().filter_map(|view| {
            let snapshot = view.snapshot(&self.embedding, progress);
            events.tell_worktree(&snapshot, || view.why_not_current(progress), now)
        });
        self.news_at = next.min();
    }

    /// Returns the time until something must be done without an event.
    fn quiet_for(&self) -> Duration {
        let now = Instant::now();
        let views = self.views.values().filter_map(|view| view.deadline(now));
        let opening = self.opening.values().flat_map(|opening| &opening.asks);
        let opening = opening.map(|ask| ask.deadline + OPEN_GRACE);
        views
            .chain(opening)
            .chain(self.surveys.iter().map(|survey| survey.until))
            .chain(self.news_at)
            .chain(self.idle_at())
            .min()
            .map_or(Duration::MAX, |at| at.saturating_duration_since(now))
    }

    /// Returns the time of the idle exit; `None` if it is disabled.
    fn idle_at(&self) -> Option<Instant> {
        let minutes = self.engine.config.daemon.idle_exit_minutes;
        (minutes > 0).then(|| self.last_ask.max(self.engine.last_use()) + Duration::from_secs(minutes * 60))
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        if self.idle_at().is_none_or(|at| at > now) {
            return false;
        }
        let open = self.engine.connections.load(Ordering::SeqCst) > 0;
        if open {
            self.last_ask = now;
        }
        !open
    }

    /// Compares the wall clock with the monotonic clock: after a sleep, events may be missing.
    fn check_clock(&mut self, now: Instant) {
        let wall = SystemTime::now();
        let (then, then_wall) = std::mem::replace(&mut self.clocks, (now, wall));
        let passed = now - then;
        let wall_passed = wall.duration_since(then_wall).unwrap_or(Duration::ZERO);
        if wall_passed.abs_diff(passed) > CLOCK_JUMP {
            tracing::info!("the clock jumped; comparing everything");
            self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
        }
    }
}

fn refuse(ask: Ask, error: RpcError) {
    let _ = ask.reply.send(Err(error)); // the asker may have gone
}

#[cfg(test)]
mod tests;
