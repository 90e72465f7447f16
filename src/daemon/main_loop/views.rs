//! Opens and closes worktrees, and watches their directories.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{MainLoop, refuse};
use crate::daemon::doorbell;
use crate::daemon::event::Ask;
use crate::daemon::shared::Shared;
use crate::daemon::worker::Job;
use crate::daemon::worktree::WorktreeState;
use crate::git::{self, UserDirs};
use crate::paths::{RepoLayout, create_private_dir};
use crate::proto::{RpcError, code};
use crate::store::ViewRow;
use crate::watch::{Debouncer, Role, silent_file_system};

/// What to do where watches run out.
const WATCH_REMEDY: &str = "raise it with `sysctl fs.inotify.max_user_watches=524288` \
    (and `fs.inotify.max_user_instances`); until then every query compares the worktree";

impl MainLoop {
    /// Asks for the row of a worktree; who asked is answered when it is there.
    pub(super) fn open(&mut self, layout: RepoLayout, ask: Option<Ask>) {
        if let Some(asks) = self.opening.get_mut(&layout.root) {
            asks.extend(ask);
            return;
        }
        self.opening.insert(layout.root.clone(), ask.into_iter().collect());
        let _ = self.jobs.send(Job::Open(Box::new(layout)));
    }

    /// Returns why events do not tell of every change in a worktree.
    fn silent_below(&self, root: &Path) -> Option<String> {
        #[cfg(target_os = "linux")]
        let mounted = self.mounts.below(root);
        #[cfg(not(target_os = "linux"))]
        let mounted = std::iter::empty();
        std::iter::once(root).chain(mounted).find_map(why_silent)
    }

    pub(super) fn refuse_opening(&mut self, root: &Path, error: &str) {
        tracing::error!(root = %root.display(), error, "cannot open the view");
        for ask in self.opening.remove(root).unwrap_or_default() {
            refuse(ask, RpcError::new(code::STORE, error.to_owned()));
        }
    }

    pub(super) fn on_opened(&mut self, layout: RepoLayout, row: &ViewRow, now: Instant) {
        let asks = self.opening.remove(&layout.root).unwrap_or_default();
        // Another worktree may have been here, and this one elsewhere.
        let is_old = |root: &PathBuf, view: &mut WorktreeState| {
            *root == layout.root || view.layout.git_dir == layout.git_dir
        };
        for (_, old) in self.views.extract_if(is_old) {
            self.shared.watch.remove_view(old.id);
        }
        let watch = &self.shared.config.watch;
        let debouncer = Debouncer::new(
            Duration::from_millis(watch.settle_ms),
            Duration::from_millis(watch.settle_max_ms),
        );
        let dirs = UserDirs::read();
        let settings = git::Settings::read_or_default(&layout, &dirs);
        if settings.is_bare {
            return asks.into_iter().for_each(|ask| refuse(ask, bare(&layout)));
        }
        let mut view = WorktreeState::new(row, layout, debouncer, settings.object_hash);
        // Only here: a repository that was deleted or moved away must not be made anew.
        if let Err(error) = create_private_dir(&view.layout.cookie_dir()) {
            tracing::warn!(%error, "no cookies");
        }
        doorbell::hang(&view.layout, self.shared.config.hooks.autostart);
        if let Some(why) = self.silent_below(&view.layout.root) {
            view.poll(Some(why));
        } else if watch.poll {
            view.poll(None);
        } else {
            watch_git(&self.shared, &mut view);
        }
        self.views.insert(view.layout.root.clone(), view);
        self.on_settings(now); // only now: what changes later is heard of
        for ask in asks {
            self.on_ask(ask, now); // another worktree may be here by now
        }
    }

    /// Lets go of worktrees that are gone; who waits for one asks again and is told.
    pub(super) fn drop_removed(&mut self) {
        for (_, view) in self.views.extract_if(|_, view| !view.exists()) {
            tracing::info!(root = %view.layout.root.display(), "the worktree is gone");
            self.shared.watch.remove_view(view.id);
            // A worktree that git still knows may come back, as with a disk that is mounted again.
            if !view.is_known() {
                let _ = self.jobs.send(Job::Forget(view.id));
            }
        }
    }
}

/// Watches cookies and git's own files; without them the view is polled. Returns whether it could.
pub(super) fn watch_git(shared: &Shared, view: &mut WorktreeState) -> bool {
    // The socket's directory is in there to notice when the socket is removed.
    let socket_dir = shared.socket.parent().filter(|_| cfg!(unix)).map(Path::to_owned);
    let git = view.git_dirs().into_iter().chain(socket_dir).map(|dir| (Role::Git, dir));
    let mut dirs = git.chain([(Role::Cookies, view.layout.cookie_dir())]);
    let watched = dirs.try_for_each(|(role, dir)| shared.watch.add_dir(view.id, role, &dir));
    watched.map_err(|error| view.mark_unwatched(Some(with_remedy(&error)))).is_ok()
}

/// As git, which refuses to work there.
fn bare(layout: &RepoLayout) -> RpcError {
    let root = layout.root.display();
    RpcError::new(code::WRONG_REPOSITORY, format!("{root}: core.bare is true, so there is no worktree here"))
        .with_hint(
            "`git worktree list` shows those of this repository; `git config core.bare false` makes this one",
        )
}

/// Returns why events do not tell of every change in a directory.
pub(super) fn why_silent(dir: &Path) -> Option<String> {
    let name = silent_file_system(dir)?;
    Some(format!("{}: {name} does not report every change; every query compares the worktree", dir.display()))
}

/// Adds what to do to why some directory is not watched.
pub(super) fn with_remedy(why: &impl Display) -> String {
    format!("{why}; {WATCH_REMEDY}")
}
