//! Declares what the thread of a worktree is asked for, and what it finds.

use std::path::PathBuf;

use crate::git::Tip;
use crate::paths::{RepoLayout, may_be_dir};
use crate::store::ViewRow;
use crate::watch::Role;

/// Names the thread of a worktree; none has the name of an earlier one.
pub(in super::super) type Lane = u64;

/// What the thread of a worktree is asked for.
#[derive(Debug)]
pub(in super::super) enum DiskTask {
    /// Look at the worktree for requests that have arrived: make a cookie of this name, resolve `HEAD`.
    Probe { number: u64, cookie: Option<String>, tip: bool },
    /// Resolve `HEAD`.
    Tip,
    /// Read git's settings anew: other ignore files may count now.
    Settings,
    /// Watch what has the names of git's directories now; after a loss of watches, which one.
    Watch { recovery: Option<u64> },
    /// Watch one directory.
    WatchDir { role: Role, path: PathBuf },
    /// Has a hook of git's rung here?
    Doorbell(PathBuf),
    /// Is git at work in this git dir?
    GitLock(PathBuf),
    /// Something was mounted or unmounted here: do events tell of every change?
    Mount(PathBuf),
    /// Is the worktree still there?
    Survey,
}

/// What it found.
#[derive(Debug)]
pub(in super::super) enum DiskReport {
    /// What a probe found.
    Probed(Probed),
    /// What `HEAD` leads to.
    Tip(Tip),
    /// What git's settings say now.
    Settings(GitSettings),
    /// Git's directories are watched, or why not.
    Watched { recovery: Option<u64>, unwatched: Option<String> },
    /// A directory is watched from now on, unless it is none.
    WatchedDir { role: Role, path: PathBuf },
    /// A hook has rung.
    Rung,
    /// Git is at work, or not.
    GitLock(bool),
    /// Why events do not tell of every change.
    Silent(Option<String>),
    /// What is left of the worktree.
    Survey(Survey),
    /// The thread has ended, for a task of it panicked.
    Panicked,
}

/// What a probe found.
#[derive(Debug)]
pub(in super::super) struct Probed {
    pub(in super::super) number: u64,
    /// Why there was no cookie.
    pub(in super::super) cookie: Result<(), String>,
    /// What `HEAD` leads to, where that was asked for.
    pub(in super::super) tip: Option<Tip>,
    /// What git's settings say now, if the user's settings or rules have changed.
    pub(in super::super) settings: Option<GitSettings>,
}

/// What git's settings say of a worktree.
#[derive(Debug)]
pub(in super::super) struct GitSettings {
    /// The ignore files outside the worktree.
    pub(in super::super) excludes: Vec<PathBuf>,
    /// Why the directories of some are not watched.
    pub(in super::super) unwatched: Option<String>,
}

/// What is left of a worktree.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Survey {
    /// Git, or outside git anybody, knows of it.
    pub(in super::super) is_known: bool,
    /// There is something to serve.
    pub(in super::super) exists: bool,
}

impl Survey {
    /// Looks for a worktree.
    pub(in super::super) fn of(layout: &RepoLayout) -> Self {
        let is_known = may_be_dir(layout.git_dir.as_ref().unwrap_or(&layout.root));
        Self { is_known, exists: is_known && may_be_dir(&layout.root) }
    }
}

/// A worktree that is ready to be served.
#[derive(Debug)]
pub(in super::super) struct Opened {
    pub(in super::super) layout: RepoLayout,
    pub(in super::super) row: ViewRow,
    pub(in super::super) settings: GitSettings,
    /// Why events do not tell of every change, so that it is polled.
    pub(in super::super) silent: Option<String>,
}
