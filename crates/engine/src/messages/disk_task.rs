//! Declares the tasks of a worktree's thread, and their results.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use memod_base::paths::{RepoLayout, may_be_dir};
use memod_git::Tip;
use memod_index_db::WorktreeRow;
use memod_indexing::{ReconcileScope, WalkProgress};
use memod_watch::Role;

/// Number of a worktree's thread; numbers are never reused.
pub(crate) type ThreadNumber = u64;

/// The scope of the next reconcile.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReconcileRequest {
    pub(crate) scope: ReconcileScope,
    /// Whether git wrote its index or settings, which may change the set of files.
    pub(crate) git_changed: bool,
}

/// The thread that reconciles a worktree.
#[derive(Debug)]
pub(crate) struct ReconcileThreadHandle {
    pub(crate) due: Sender<ReconcileRequest>,
    /// Progress of the running reconcile.
    pub(crate) progress: Arc<WalkProgress>,
}

impl ReconcileThreadHandle {
    /// Returns a handle without a thread, and the queue of its requests.
    #[cfg(test)]
    pub(crate) fn new() -> (Self, std::sync::mpsc::Receiver<ReconcileRequest>) {
        let (due, queue) = std::sync::mpsc::channel();
        (Self { due, progress: Arc::default() }, queue)
    }
}

/// A task for the thread of a worktree.
#[derive(Debug)]
pub(crate) enum DiskTask {
    /// Probe the worktree for requests that have arrived: make a cookie with this name, if any, and with `tip` resolve `HEAD`.
    Probe { number: u64, cookie: Option<String>, tip: bool },
    /// Resolve `HEAD`.
    ResolveHead,
    /// Read git's settings again: other ignore files may apply now.
    ReadSettings,
    /// Watch git's directories again, because other directories may have these names now. After a loss of watches, `recovery` is
    /// the token of the recovery.
    WatchGitDirs { recovery: Option<u64> },
    /// Watch one directory.
    WatchDir { role: Role, path: PathBuf },
    /// Check whether a git hook has rung.
    CheckDoorbell(PathBuf),
    /// Check whether git is at work in this git dir.
    CheckGitLock(PathBuf),
    /// Check whether events report every change at this path, after something was mounted or unmounted there.
    CheckMount(PathBuf),
    /// Check whether the worktree still exists.
    CheckExistence,
}

/// The result of a task.
#[derive(Debug)]
pub(crate) enum DiskReport {
    /// The result of a probe.
    Probed(ProbeResult),
    /// The tip that `HEAD` resolves to.
    Tip(Tip),
    /// The present settings of git.
    Settings(GitSettings),
    /// Git's directories are watched, or `unwatched` is why not.
    Watched { recovery: Option<u64>, unwatched: Option<String> },
    /// A directory is watched from now on, if it exists and can be watched.
    WatchedDir { role: Role, path: PathBuf },
    /// A hook has rung.
    DoorbellRung,
    /// Whether git is at work.
    GitLock(bool),
    /// Why events may not report every change.
    UnreliableEvents(Option<String>),
    /// Whether the worktree still exists.
    Existence(ExistenceCheck),
    /// The thread has ended because a task panicked.
    Panicked,
}

/// The result of a probe.
#[derive(Debug)]
pub(crate) struct ProbeResult {
    pub(crate) number: u64,
    /// Why no cookie was made, if that failed.
    pub(crate) cookie: Result<(), String>,
    /// The tip that `HEAD` resolves to, if requested.
    pub(crate) tip: Option<Tip>,
    /// The present settings of git, if the user's settings or rules have changed.
    pub(crate) settings: Option<GitSettings>,
}

/// Git's settings for a worktree.
#[derive(Debug)]
pub(crate) struct GitSettings {
    /// Whether the user's settings or ignore files have changed since they were read before.
    pub(crate) changed: bool,
    /// The ignore files outside the worktree.
    pub(crate) exclude_files: Vec<PathBuf>,
    /// Why the directory of some ignore file or of git is not watched, if so.
    pub(crate) unwatched: Option<String>,
}

/// Whether a worktree still exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExistenceCheck {
    /// Git knows the worktree; outside git, its directory exists.
    pub(crate) is_known: bool,
    /// The directory can be served.
    pub(crate) exists: bool,
}

impl ExistenceCheck {
    /// Checks on disk whether a worktree exists.
    pub(crate) fn check_on_disk(layout: &RepoLayout) -> Self {
        let is_known = may_be_dir(layout.git_dir.as_ref().unwrap_or(&layout.root));
        Self { is_known, exists: is_known && may_be_dir(&layout.root) }
    }
}

/// A worktree that is ready to be served.
#[derive(Debug)]
pub(crate) struct OpenedWorktree {
    pub(crate) layout: RepoLayout,
    pub(crate) row: WorktreeRow,
    pub(crate) reconciler: ReconcileThreadHandle,
    pub(crate) settings: GitSettings,
    /// Why events may not report every change, so that the worktree is polled.
    pub(crate) unreliable_events: Option<String>,
}
