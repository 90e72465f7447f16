//! Declares the events that the main loop reacts to.

use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::oneshot;

use super::disk::task::{DiskReport, Lane, Opened, Survey};
use crate::git::Tip;
use crate::index::{CommitStep, IndexError, Progress, ReconcileOutcome, Scope};
use crate::paths::RepoLayout;
use crate::proto::{Pending, RpcError, Sync, ViewInfo};
use crate::types::{SourceKey, ViewId};
use crate::watch::WatchEvent;

/// Everything the main loop reacts to.
#[derive(Debug)]
pub(super) enum Event {
    /// The watcher saw something.
    Watch(WatchEvent),
    /// A request wants to know how fresh a view is.
    Ask(Ask),
    /// A worktree is ready to be served, or why it is not.
    Opened {
        /// The thread that touches its file system.
        lane: Lane,
        /// What is known of it by now.
        result: Result<Box<Opened>, RpcError>,
    },
    /// The thread of a worktree has done something.
    Disk {
        /// Which thread.
        lane: Lane,
        /// What it found.
        report: DiskReport,
    },
    /// A reconcile has ended.
    Indexed(Box<Indexed>),
    /// Everything that waited for a vector when this round was asked for has been looked at.
    Embedded {
        /// The round.
        round: u64,
        /// Why some of it got none.
        error: Option<String>,
    },
    /// `reindex` was asked for.
    Reindex,
    /// The index has been emptied.
    Cleared,
    /// A step of reading commits has ended.
    Commits {
        /// Which view.
        view: ViewId,
        /// What they were read for.
        tip: Tip,
        /// What it did.
        result: Result<CommitStep, IndexError>,
    },
    /// `status` wants what only the loop knows.
    Views(oneshot::Sender<Vec<ViewReport>>),
    /// The daemon shall end.
    Stop(&'static str),
}

/// What `status` and `doctor` show of a view.
#[derive(Debug)]
pub(super) struct ViewReport {
    /// The view.
    pub(super) view: ViewId,
    /// Its files are counted by who asks.
    pub(super) info: ViewInfo,
    /// What does not work, each with its remedy.
    pub(super) degraded: Vec<String>,
}

/// A request's question.
#[derive(Debug)]
pub(super) struct Ask {
    /// The worktree that it is about, as the disk had it after the request arrived.
    pub(super) layout: RepoLayout,
    /// How fresh it must be.
    pub(super) level: Sync,
    /// When it must be answered, fresh or not.
    pub(super) deadline: Instant,
    /// Paths found to differ from the index.
    pub(super) dirty: Vec<SourceKey>,
    /// Commits belong to what must be fresh.
    pub(super) needs_commits: bool,
    /// The round of reading commits that must have ended; set by the view.
    pub(super) commits_round: u64,
    /// It has had the walk that its level wants; set by the view.
    pub(super) was_walked: bool,
    /// How often the worktree was not held still while it was compared for this request.
    pub(super) tries: u32,
    /// The answer goes here.
    pub(super) reply: oneshot::Sender<Result<Freshness, RpcError>>,
}

impl Ask {
    /// Makes a question that names no dirty paths and leaves commits aside.
    pub(super) fn new(
        layout: RepoLayout,
        level: Sync,
        deadline: Instant,
        reply: oneshot::Sender<Result<Freshness, RpcError>>,
    ) -> Self {
        Self {
            layout,
            level,
            deadline,
            dirty: Vec::new(),
            needs_commits: false,
            commits_round: 0,
            was_walked: false,
            tries: 0,
            reply,
        }
    }
}

/// How fresh a view is.
#[derive(Clone, Debug)]
pub(super) struct Freshness {
    /// The view.
    pub(super) view: ViewId,
    /// Its worktree.
    pub(super) layout: RepoLayout,
    /// The promise of the asked level holds.
    pub(super) fresh: bool,
    /// Why it does not.
    pub(super) reason: Option<String>,
    /// What of the worktree, or of git's files, could not be read.
    pub(super) files_note: Option<String>,
    /// Why commits are missing from the index, if any are.
    pub(super) commits_note: Option<String>,
    /// What is still to be indexed; embeddings are counted by the asker.
    pub(super) pending: Pending,
    /// [`Progress::removals`] when this was said.
    pub(super) removals: u64,
}

impl Freshness {
    /// Returns whether something was taken out of a manifest since this was said: a snapshot may lack it.
    pub(super) fn is_outdated(&self, progress: &Progress) -> bool {
        progress.removals.load(Ordering::SeqCst) != self.removals
    }
}

/// How a reconcile ended.
#[derive(Debug)]
pub(super) struct Indexed {
    /// Which view.
    pub(super) view: ViewId,
    /// What it was to compare.
    pub(super) scope: Scope,
    /// What it did.
    pub(super) result: Result<ReconcileOutcome, IndexError>,
    /// What HEAD says.
    pub(super) head: Option<String>,
    /// Why some directories are not watched, and the remedy.
    pub(super) unwatched: Option<String>,
    /// What is left of the worktree, where it failed.
    pub(super) survey: Option<Survey>,
}
