//! The loop that owns all mutable state of the daemon.
//!
//! One thread owns all mutable state. Events come in, jobs go out, and what a job found comes back as an
//! event. With nothing pending the loop sleeps without a timer, except for the one of the idle exit.
//! `views` opens and closes worktrees, `changes` takes what the watcher saw, `indexed` what a reconcile did.

mod changes;
mod indexed;
mod views;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use super::error::wrong_repository;
use super::event::{Ask, Event};
use super::shared::Shared;
use super::worker::Job;
use super::worktree::{Due, Rounds, WorktreeState};
use crate::git::UserRules;
use crate::index::Scope;
use crate::paths::RepoLayout;
use crate::proto::{RpcError, Sync, code};
use crate::scan::lstat;
#[cfg(target_os = "linux")]
use crate::watch::Mounts;
use crate::watch::WatchEvent;

/// A wall clock that is this far from the monotonic one means that the machine slept or the clock was set.
const CLOCK_JUMP: Duration = Duration::from_secs(5);
/// How much longer than for freshness the row of a worktree is waited for: without it there is only an error.
const OPEN_GRACE: Duration = Duration::from_secs(5);
/// How long events that wait may be taken before answers that are due are given.
const DRAIN: Duration = Duration::from_millis(20);

/// The loop and all it owns.
pub(super) struct MainLoop {
    shared: Arc<Shared>,
    jobs: Sender<Job>,
    rounds: Sender<u64>,
    views: HashMap<PathBuf, WorktreeState>,
    opening: HashMap<PathBuf, Vec<Ask>>,
    embedding: Rounds,
    /// Reconciles until what nobody needs is collected.
    collect_in: u64,
    last_ask: Instant,
    clocks: (Instant, SystemTime),
    /// Inodes of the lock, the socket and index.db; a name that leads elsewhere is not ours.
    held: [(PathBuf, u64); 3],
    user_rules: UserRules,
    #[cfg(target_os = "linux")]
    mounts: Mounts,
    /// Something happened to the state dir or the socket.
    check_held: bool,
}

impl MainLoop {
    pub(super) fn new(shared: Arc<Shared>, jobs: Sender<Job>, rounds: Sender<u64>) -> Self {
        let held = [shared.layout.daemon_lock_file(), shared.socket.clone(), shared.index_db.clone()];
        let held = held.map(|path| (path.clone(), inode(&path)));
        Self {
            shared,
            jobs,
            rounds,
            views: HashMap::new(),
            opening: HashMap::new(),
            embedding: Rounds::default(),
            collect_in: 0,
            last_ask: Instant::now(),
            clocks: (Instant::now(), SystemTime::now()),
            held,
            user_rules: UserRules::default(),
            #[cfg(target_os = "linux")]
            mounts: Mounts::read(),
            check_held: false,
        }
    }

    /// Runs until the daemon shall end; returns why.
    pub(super) fn run(mut self, events: &Receiver<Event>) -> &'static str {
        self.open(self.shared.layout.clone(), None);
        self.wake_embedder();
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
            // Everything at hand first: one reconcile serves all of it. A flood must not keep answers waiting.
            while now.elapsed() < DRAIN
                && let Ok(event) = events.try_recv()
            {
                match event {
                    Event::Stop(why) => return why,
                    event => self.handle(event, now),
                }
            }
            if std::mem::take(&mut self.check_held) && !self.is_found() {
                return "its state dir, its socket or its index is gone, or is looked for elsewhere";
            }
            self.advance(Instant::now());
        }
    }

    /// Returns whether lock, socket and index are still where others look for them. Without, the next daemon
    /// serves better than this one.
    fn is_found(&self) -> bool {
        let ours = &self.shared.layout;
        let now = RepoLayout::locate(&ours.root, &self.shared.env);
        self.held.iter().all(|(path, held)| inode(path) == *held)
            && lstat(&self.shared.index_db).is_ok_and(|stat| stat.size > 0)
            && !now.is_ok_and(|now| now.id == ours.id && now.state_dir != ours.state_dir)
    }

    fn handle(&mut self, event: Event, now: Instant) {
        match event {
            Event::Watch(WatchEvent::Changed(changes)) => {
                self.shared.events.fetch_add(changes.len() as u64, Ordering::Relaxed);
                for change in &changes {
                    self.on_change(change, now);
                }
            }
            Event::Watch(WatchEvent::Lost) => {
                self.check_held = true;
                self.views.values_mut().for_each(|view| view.mark_all_dirty(now));
            }
            Event::Ask(ask) => self.on_ask(ask, now),
            Event::Opened { layout, row: Ok(row) } => self.on_opened(*layout, &row, now),
            Event::Opened { layout, row: Err(error) } => {
                self.refuse_opening(&layout.root, &error.to_string())
            }
            Event::Indexed(indexed) => self.on_indexed(*indexed, now),
            Event::Commits { view, tip, result } => self.on_commits(view, tip, result),
            Event::Embedded { round, error } => {
                self.embedding.done = round;
                self.embedding.error = error;
            }
            Event::Reindex => {
                self.views.values_mut().for_each(WorktreeState::unsettle);
                let _ = self.jobs.send(Job::Clear); // the writer ends only after the loop
            }
            Event::Cleared => self.views.values_mut().for_each(|view| view.restart(now)),
            Event::Views(reply) => {
                self.drop_removed(); // where nothing is watched, nobody has told
                let mut reports: Vec<_> = self.views.values().map(WorktreeState::report).collect();
                reports.sort_by(|a, b| a.info.root.cmp(&b.info.root));
                let _ = reply.send(reports); // the asker may have gone
            }
            Event::Stop(_) => unreachable!("`run` takes it"),
        }
    }

    /// Starts what is due and answers who need not wait any longer.
    fn advance(&mut self, now: Instant) {
        for view in self.views.values_mut() {
            view.expire_cookie(now);
            if let Some(Due { scope, git_changed }) = view.start(now) {
                if scope == Scope::Full && view.complete {
                    self.shared.rescans.fetch_add(1, Ordering::Relaxed);
                }
                self.shared.reconciles.fetch_add(1, Ordering::Relaxed);
                view.removals_at_start = self.shared.progress.removals.load(Ordering::SeqCst);
                let layout = Box::new(view.layout.clone());
                // The writer ends only after the loop.
                let _ = self.jobs.send(Job::Reconcile { view: view.id, layout, scope, git_changed });
            }
            if let Some(tip) = view.start_commits() {
                let _ = self.jobs.send(Job::Commits {
                    view: view.id,
                    layout: Box::new(view.layout.clone()),
                    tip,
                });
            }
            view.answer(now, &self.embedding, &self.shared.progress);
        }
        for (root, asks) in &mut self.opening {
            for late in asks.extract_if(.., |ask| ask.deadline + OPEN_GRACE <= now) {
                let message = format!("{}: not known yet, another worktree is being indexed", root.display());
                refuse(late, RpcError::new(code::BUSY, message));
            }
        }
    }

    /// Returns how long nothing has to be done unless an event comes.
    fn quiet_for(&self) -> Duration {
        let now = Instant::now();
        let views = self.views.values().filter_map(|view| view.deadline(now));
        let opening = self.opening.values().flatten().map(|ask| ask.deadline + OPEN_GRACE);
        views
            .chain(opening)
            .chain(self.idle_at())
            .min()
            .map_or(Duration::MAX, |at| at.saturating_duration_since(now))
    }

    /// Returns when the daemon ends if nobody asks until then; `None`: never.
    fn idle_at(&self) -> Option<Instant> {
        let minutes = self.shared.config.daemon.idle_exit_minutes;
        (minutes > 0).then(|| self.last_ask + Duration::from_secs(minutes * 60))
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        if self.idle_at().is_none_or(|at| at > now) {
            return false;
        }
        let open = self.shared.connections.load(Ordering::SeqCst) > 0;
        if open {
            self.last_ask = now;
        }
        !open
    }

    fn on_ask(&mut self, ask: Ask, now: Instant) {
        self.last_ask = now;
        if ask.level != Sync::None {
            self.look_outside(now);
        }
        match RepoLayout::locate(&ask.cwd, &self.shared.env) {
            // It moved, and this daemon with it, or its state may be written elsewhere by now, where others look for
            // it: not answering says that it is stopping.
            Ok(layout) if layout.state_dir != self.shared.layout.state_dir && !self.is_found() => {
                self.check_held = true;
            }
            Ok(layout) if layout.state_dir != self.shared.layout.state_dir => {
                let refusal = wrong_repository(&ask.cwd, &self.shared.layout);
                refuse(ask, refusal);
            }
            Ok(layout) => match self.views.get_mut(&layout.root) {
                Some(view) if view.layout == layout => view.ask(ask, now),
                _ => self.open(layout, Some(ask)),
            },
            Err(error) => refuse(ask, error.into()),
        }
    }

    /// Looks for changes that no watch tells of.
    fn look_outside(&mut self, now: Instant) {
        if self.user_rules.changed() {
            self.on_settings(now);
        }
        #[cfg(target_os = "linux")]
        for layout in self.mounts.changed() {
            let why = views::why_silent(&layout);
            for view in self.views.values_mut().filter(|view| layout.starts_with(&view.layout.root)) {
                view.mark_all_dirty(now);
                if why.is_some() {
                    view.poll(why.clone());
                }
            }
        }
    }

    /// Compares the wall clock with the monotonic one: after a sleep nothing the watcher said is complete.
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

fn inode(path: &Path) -> u64 {
    lstat(path).map_or(0, |stat| stat.inode)
}

#[cfg(test)]
mod tests;
