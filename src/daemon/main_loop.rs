//! What happened, and who handles it?
//!
//! One thread owns all mutable state. Events come in, jobs go out, and what a job found comes back as an
//! event. With nothing pending the loop sleeps without a timer, except for the one of the idle exit.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use super::event::{Ask, Event, Indexed};
use super::shared::Shared;
use super::view::{DOT_GIT, Due, Rounds, View};
use super::worker::Job;
use crate::git::{self, UserDirs, UserRules};
use crate::index::{IndexError, Scope};
use crate::paths::{Place, create_private_dir};
use crate::proto::{RpcError, Sync, code};
use crate::scan::{Admission, lstat};
use crate::store::{StoreError, ViewRow};
use crate::types::ViewId;
use crate::watch::{FsChange, Role, Settle, WatchEvent, silent_file_system};

/// A wall clock that is this far from the monotonic one means that the machine slept or the clock was set.
const CLOCK_JUMP: Duration = Duration::from_secs(5);
/// Contents are collected after so many reconciles that changed something.
const COLLECT_EVERY: u64 = 1_000;
/// How much longer than for freshness the row of a worktree is waited for: without it there is only an error.
const OPEN_GRACE: Duration = Duration::from_secs(5);
/// What to do where watches run out.
const WATCH_REMEDY: &str = "raise it with `sysctl fs.inotify.max_user_watches=524288` \
    (and `fs.inotify.max_user_instances`); until then every query compares the worktree";

/// The loop and all it owns.
pub(super) struct MainLoop {
    shared: Arc<Shared>,
    jobs: Sender<Job>,
    rounds: Sender<u64>,
    views: HashMap<PathBuf, View>,
    opening: HashMap<PathBuf, Vec<Ask>>,
    embedding: Rounds,
    n_reconciles: u64,
    last_ask: Instant,
    clocks: (Instant, SystemTime),
    /// Inodes of the lock, the socket and index.db; a name that leads elsewhere is not ours.
    held: [(PathBuf, u64); 3],
    user_rules: UserRules,
    /// Something happened to the state dir or the socket.
    check_held: bool,
}

impl MainLoop {
    pub(super) fn new(shared: Arc<Shared>, jobs: Sender<Job>, rounds: Sender<u64>) -> Self {
        let held = [shared.place.daemon_lock_file(), shared.socket.clone(), shared.index_db.clone()];
        let held = held.map(|path| (path.clone(), inode(&path)));
        let user_rules = UserRules::new(shared.place.clone(), UserDirs::read());
        Self {
            shared,
            jobs,
            rounds,
            views: HashMap::new(),
            opening: HashMap::new(),
            embedding: Rounds::default(),
            n_reconciles: 0,
            last_ask: Instant::now(),
            clocks: (Instant::now(), SystemTime::now()),
            held,
            user_rules,
            check_held: false,
        }
    }

    /// Runs until the daemon shall end; returns why.
    pub(super) fn run(mut self, events: &Receiver<Event>) -> &'static str {
        self.open(self.shared.place.clone(), None);
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
            // Everything at hand first: one reconcile serves all of it.
            while let Ok(event) = events.try_recv() {
                match event {
                    Event::Stop(why) => return why,
                    event => self.handle(event, now),
                }
            }
            if std::mem::take(&mut self.check_held) && !self.is_reachable() {
                return "its state dir, its socket or its index is gone";
            }
            self.advance(Instant::now());
        }
    }

    /// Returns whether lock, socket and index are still where others look for them. Without, the next daemon
    /// serves better than this one.
    fn is_reachable(&self) -> bool {
        self.held.iter().all(|(path, held)| inode(path) == *held)
            && lstat(&self.shared.index_db).is_ok_and(|stat| stat.size > 0)
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
                self.views.values_mut().for_each(|view| view.lose(now));
            }
            Event::Ask(ask) => self.on_ask(ask, now),
            Event::Opened { place, row: Ok(row) } => self.on_opened(*place, &row, now),
            Event::Opened { place, row: Err(error) } => self.refuse_opening(&place.root, &error.to_string()),
            Event::Indexed(indexed) => self.on_indexed(*indexed, now),
            Event::Embedded { round, error } => {
                self.embedding.done = round;
                self.embedding.error = error;
            }
            Event::Reindex => {
                self.views.values_mut().for_each(View::unsettle);
                let _ = self.jobs.send(Job::Clear); // the writer ends only after the loop
            }
            Event::Cleared => self.views.values_mut().for_each(|view| view.restart(now)),
            Event::Views(reply) => {
                self.drop_removed(); // where nothing is watched, nobody has told
                let mut infos: Vec<_> = self.views.values().map(|view| (view.id, view.info())).collect();
                infos.sort_by(|a, b| a.1.root.cmp(&b.1.root));
                let _ = reply.send(infos); // the asker may have gone
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
                let place = Box::new(view.place.clone());
                // The writer ends only after the loop.
                let _ = self.jobs.send(Job::Reconcile { view: view.id, place, scope, git_changed });
            }
            view.answer(now, &self.embedding, &self.shared.progress);
        }
        for (root, asks) in &mut self.opening {
            for late in asks.extract_if(.., |ask| ask.deadline + OPEN_GRACE <= now) {
                let message = format!("{}: not known yet, another worktree is being indexed", root.display());
                refuse(late, code::BUSY, message);
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
        if ask.level != Sync::None && self.user_rules.changed() {
            self.on_settings(now);
        }
        match Place::locate(&ask.cwd, &self.shared.env) {
            Ok(place) if place.state_dir != self.shared.place.state_dir => {
                let message =
                    format!("{}: belongs to another repository than this daemon's", ask.cwd.display());
                refuse(ask, code::WRONG_REPOSITORY, message);
            }
            Ok(place) => match self.views.get_mut(&place.root) {
                Some(view) if view.place == place => view.ask(ask, now),
                _ => self.open(place, Some(ask)),
            },
            Err(error) => refuse(ask, code::WRONG_REPOSITORY, error.to_string()),
        }
    }

    /// Asks for the row of a worktree; who asked is answered when it is there.
    fn open(&mut self, place: Place, ask: Option<Ask>) {
        if let Some(asks) = self.opening.get_mut(&place.root) {
            asks.extend(ask);
            return;
        }
        self.opening.insert(place.root.clone(), ask.into_iter().collect());
        let _ = self.jobs.send(Job::Open(Box::new(place)));
    }

    fn refuse_opening(&mut self, root: &Path, error: &str) {
        tracing::error!(root = %root.display(), error, "cannot open the view");
        for ask in self.opening.remove(root).unwrap_or_default() {
            refuse(ask, code::STORE, error.to_owned());
        }
    }

    fn on_opened(&mut self, place: Place, row: &ViewRow, now: Instant) {
        let asks = self.opening.remove(&place.root).unwrap_or_default();
        if let Some(old) = self.views.remove(&place.root) {
            self.shared.watch.remove_view(old.id);
        }
        let watch = &self.shared.config.watch;
        let settle =
            Settle::new(Duration::from_millis(watch.settle_ms), Duration::from_millis(watch.settle_max_ms));
        let silent = silent_file_system(&place.root);
        if let Some(name) = silent {
            let remedy = format!("{name} does not report every change; each query compares the worktree");
            self.shared.degrade("file system", Some(remedy));
        }
        let mut view = View::new(row, place, settle);
        view.excludes = git::excludes_files(&view.place, &UserDirs::read());
        if watch.poll || silent.is_some() || !self.watch_git(&view) {
            view.uncover();
        }
        for ask in asks {
            view.ask(ask, now);
        }
        self.views.insert(view.place.root.clone(), view);
    }

    /// Watches cookies and git's own files; without them the view is polled.
    fn watch_git(&self, view: &View) -> bool {
        let cookie_dir = view.place.cookie_dir();
        if let Err(error) = create_private_dir(&cookie_dir) {
            tracing::warn!(%error, "no cookies");
            return false;
        }
        // The socket's directory is in there to notice when the socket is removed.
        let socket_dir = self.shared.socket.parent().filter(|_| cfg!(unix)).map(Path::to_owned);
        let git = view.git_dirs().into_iter().chain(socket_dir).map(|dir| (Role::Git, dir));
        let mut dirs = git.chain([(Role::Cookies, cookie_dir)]);
        dirs.all(|(role, dir)| match self.shared.watch.add_dir(view.id, role, &dir) {
            Ok(()) => true,
            Err(error) => {
                self.shared.degrade("watch", Some(format!("{error}; {WATCH_REMEDY}")));
                false
            }
        })
    }

    fn on_change(&mut self, change: &FsChange, now: Instant) {
        if change.role == Role::Git {
            return self.on_git_change(change, now);
        }
        let Some(view) = self.views.values_mut().find(|view| view.id == change.view) else { return };
        if change.role == Role::Cookies {
            if change.path == view.place.cookie_dir() {
                self.check_held = true;
                self.drop_removed();
            } else {
                view.cookie_back(&change.path, now);
            }
            return;
        }
        if view.place.git_dir.as_deref().is_some_and(|dir| change.path.starts_with(dir)) {
            return;
        }
        match view.key_of(&change.path) {
            Some(key) if !Admission::is_rule(&key) => {
                if change.path.file_name() == Some(OsStr::new(DOT_GIT)) {
                    // It is a repository only once more is in it. A file fails here, and needs no watch.
                    let _ = self.shared.watch.add_dir(change.view, Role::Worktree, &change.path);
                }
                view.touch(key, now);
            }
            _ => view.lose(now),
        }
    }

    /// Takes a change in a git dir; settings and excludes of the common dir are those of every worktree.
    fn on_git_change(&mut self, change: &FsChange, now: Instant) {
        if change.path == self.shared.socket {
            self.check_held = true;
        }
        let name = change.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if self.views.values().any(|view| view.is_exclude(&change.path)) {
            return self.views.values_mut().for_each(|view| view.lose(now));
        }
        let own = self.views.values_mut().find(|view| view.id == change.view);
        match (name, own) {
            ("info", _) => {
                // Made only now, for the excludes that will be in it. Whatever else has the name fails here.
                let _ = self.shared.watch.add_dir(change.view, Role::Git, &change.path);
                self.views.values_mut().for_each(|view| view.lose(now));
            }
            ("config", _) => self.on_settings(now),
            ("index.lock", Some(view)) => view.git_lock(change.path.exists(), now),
            ("HEAD" | "index" | "config.worktree", Some(view)) => view.touch_index(now),
            _ => {}
        }
    }

    /// Notes that git's settings may have changed: other ignore files may count now.
    fn on_settings(&mut self, now: Instant) {
        for view in self.views.values_mut() {
            view.excludes = git::excludes_files(&view.place, &UserDirs::read());
            view.touch_index(now);
        }
        if !self.views.values().all(|view| self.watch_git(view)) {
            self.views.values_mut().for_each(View::uncover);
        }
    }

    /// Lets go of worktrees that are gone; who waits for one asks again and is told.
    fn drop_removed(&mut self) {
        for (_, view) in self.views.extract_if(|_, view| !view.exists()) {
            tracing::info!(root = %view.place.root.display(), "the worktree is gone");
            self.shared.watch.remove_view(view.id);
            // A worktree that git still knows may come back, as with a disk that is mounted again.
            if !view.is_known() {
                let _ = self.jobs.send(Job::Forget(view.id));
            }
        }
    }

    fn on_indexed(&mut self, indexed: Indexed, now: Instant) {
        let Indexed { view, scope, result, head, unwatched } = indexed;
        let Some(view) = self.views.values_mut().find(|known| known.id == view) else { return };
        view.head = head;
        let covers = scope == Scope::Full && unwatched.is_none() && !view.is_covered();
        if let Some(error) = unwatched {
            self.shared.degrade("watch", Some(format!("{error}; {WATCH_REMEDY}")));
            view.uncover();
        }
        let mut moving = None;
        let failed = match result {
            Ok(outcome) => {
                for problem in &outcome.problems {
                    tracing::warn!(root = %view.place.root.display(), problem, "not everything could be listed");
                }
                view.retry(outcome.again, now);
                moving = outcome.moving;
                if let Some(seq) = outcome.seq {
                    view.seq = seq;
                    self.n_reconciles += 1;
                }
                None
            }
            Err(error) => {
                tracing::error!(root = %view.place.root.display(), %error, "the index is behind");
                if let IndexError::Store(StoreError::Corrupt { .. }) = error {
                    set_aside(&self.shared.index_db);
                }
                Some(error.to_string())
            }
        };
        if failed.is_some() && !view.exists() {
            self.check_held = true; // with the whole repository elsewhere, nobody finds this daemon any more
            return self.drop_removed();
        }
        // An index that was deleted or cut off under us does not come back by itself.
        self.check_held |= failed.is_some();
        self.shared.degrade("index", failed.clone());
        let (id, covers) = (view.id, covers && failed.is_none());
        view.end(&scope, failed, moving, now);
        if covers {
            self.cover(id);
        }
        self.wake_embedder();
        if self.n_reconciles.is_multiple_of(COLLECT_EVERY) {
            self.n_reconciles += 1;
            let _ = self.jobs.send(Job::Collect);
        }
    }

    /// Relies on the watcher again after a walk that could watch every directory.
    fn cover(&mut self, id: ViewId) {
        let Some(root) = self.views.iter().find(|(_, view)| view.id == id).map(|(root, _)| root.clone())
        else {
            return;
        };
        let may = !self.shared.config.watch.poll && silent_file_system(&root).is_none();
        if may && self.watch_git(&self.views[&root]) {
            self.views.entry(root).and_modify(View::cover);
            if self.views.values().all(View::is_covered) {
                self.shared.degrade("watch", None);
            }
        }
    }

    fn wake_embedder(&mut self) {
        self.embedding.asked += 1;
        let _ = self.rounds.send(self.embedding.asked); // it ends only after the loop
    }

    /// Compares the wall clock with the monotonic one: after a sleep nothing the watcher said is complete.
    fn check_clock(&mut self, now: Instant) {
        let wall = SystemTime::now();
        let (then, then_wall) = std::mem::replace(&mut self.clocks, (now, wall));
        let passed = now - then;
        let wall_passed = wall.duration_since(then_wall).unwrap_or(Duration::ZERO);
        if wall_passed.abs_diff(passed) > CLOCK_JUMP {
            tracing::info!("the clock jumped; comparing everything");
            self.views.values_mut().for_each(|view| view.lose(now));
        }
    }
}

fn refuse(ask: Ask, code: i64, message: String) {
    let _ = ask.reply.send(Err(RpcError { code, message, data: None })); // the asker may have gone
}

/// Makes room for a new index, which the next daemon builds.
fn set_aside(index_db: &Path) {
    match super::quarantine(index_db) {
        Ok(aside) => tracing::error!(aside = %aside.display(), "the index is damaged; put aside"),
        Err(error) => tracing::error!(%error, "the index is damaged, and cannot be put aside"),
    }
}

fn inode(path: &Path) -> u64 {
    lstat(path).map_or(0, |stat| stat.inode)
}
