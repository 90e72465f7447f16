//! Which worktrees are served, and what of them is watched?

use std::path::Path;
use std::time::{Duration, Instant};

use super::{MainLoop, refuse};
use crate::daemon::event::Ask;
use crate::daemon::view::View;
use crate::daemon::worker::Job;
use crate::git::{self, UserDirs};
use crate::paths::{Place, create_private_dir};
use crate::proto::code;
use crate::store::ViewRow;
use crate::types::ViewId;
use crate::watch::{Role, Settle, silent_file_system};

/// What to do where watches run out.
pub(super) const WATCH_REMEDY: &str = "raise it with `sysctl fs.inotify.max_user_watches=524288` \
    (and `fs.inotify.max_user_instances`); until then every query compares the worktree";

impl MainLoop {
    /// Asks for the row of a worktree; who asked is answered when it is there.
    pub(super) fn open(&mut self, place: Place, ask: Option<Ask>) {
        if let Some(asks) = self.opening.get_mut(&place.root) {
            asks.extend(ask);
            return;
        }
        self.opening.insert(place.root.clone(), ask.into_iter().collect());
        let _ = self.jobs.send(Job::Open(Box::new(place)));
    }

    pub(super) fn refuse_opening(&mut self, root: &Path, error: &str) {
        tracing::error!(root = %root.display(), error, "cannot open the view");
        for ask in self.opening.remove(root).unwrap_or_default() {
            refuse(ask, code::STORE, error.to_owned());
        }
    }

    pub(super) fn on_opened(&mut self, place: Place, row: &ViewRow, now: Instant) {
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
        // Only here: a repository that was deleted or moved away must not be made anew.
        if let Err(error) = create_private_dir(&view.place.cookie_dir()) {
            tracing::warn!(%error, "no cookies");
        }
        if watch.poll || silent.is_some() || !self.watch_git(&view) {
            view.uncover();
        }
        for ask in asks {
            view.ask(ask, now);
        }
        self.views.insert(view.place.root.clone(), view);
    }

    /// Watches cookies and git's own files; without them the view is polled.
    pub(super) fn watch_git(&self, view: &View) -> bool {
        let cookie_dir = view.place.cookie_dir();
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

    /// Relies on the watcher again after a walk that could watch every directory.
    pub(super) fn cover(&mut self, id: ViewId) {
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

    /// Lets go of worktrees that are gone; who waits for one asks again and is told.
    pub(super) fn drop_removed(&mut self) {
        for (_, view) in self.views.extract_if(|_, view| !view.exists()) {
            tracing::info!(root = %view.place.root.display(), "the worktree is gone");
            self.shared.watch.remove_view(view.id);
            // A worktree that git still knows may come back, as with a disk that is mounted again.
            if !view.is_known() {
                let _ = self.jobs.send(Job::Forget(view.id));
            }
        }
    }
}
