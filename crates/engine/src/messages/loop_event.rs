//! Declares the events that the main loop reacts to.

use std::time::Instant;

use memod_base::paths::RepoLayout;
use memod_base::types::{SourceKey, WorktreeId};
use memod_git::Tip;
use memod_indexing::{CommitStep, IndexError, ReconcileOutcome, ReconcileScope};
use memod_proto::{FreshnessLevel, RpcError};
use memod_watch::WatchEvent;
use tokio::sync::oneshot;

use super::disk_task::{DiskReport, ExistenceCheck, OpenedWorktree, ThreadNumber};
use crate::freshness::{Freshness, WorktreeReport};

/// Everything the main loop reacts to.
#[derive(Debug)]
pub(crate) enum LoopEvent {
    /// An event of the watcher.
    Watch(WatchEvent),
    /// A request waits for a fresh worktree.
    Request(PendingRequest),
    /// A worktree was opened, or could not be.
    Opened {
        /// The thread of the worktree.
        thread: ThreadNumber,
        /// The opened worktree, or the error.
        result: Result<Box<OpenedWorktree>, RpcError>,
    },
    /// The thread of a worktree has completed a task.
    Disk {
        /// The thread.
        thread: ThreadNumber,
        /// The result.
        report: DiskReport,
    },
    /// A reconcile has ended.
    ReconcileEnded(Box<ReconcileEnd>),
    /// A round of embedding has ended: it covered every text that waited for a vector when it was requested.
    EmbeddingEnded {
        /// The round.
        round: u64,
        /// Why some texts have no vector.
        error: Option<String>,
    },
    /// Another model was chosen.
    ModelChosen,
    /// A `reindex` was requested.
    Reindex,
    /// The index has been emptied.
    Cleared,
    /// A step of reading commits has ended.
    CommitStepEnded {
        /// The worktree.
        worktree: WorktreeId,
        /// The tip whose history was read.
        tip: Tip,
        /// The result of the step.
        result: Result<CommitStep, IndexError>,
    },
    /// A client has subscribed to events: later states are compared with the present one.
    Subscribed,
    /// `status` needs the loop's report on each worktree.
    ReportRequested(oneshot::Sender<Vec<WorktreeReport>>),
    /// The daemon is to stop, for this reason.
    Stop(&'static str),
}

/// A request that waits for freshness.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    /// The worktree, located on disk after the request arrived.
    pub(crate) layout: RepoLayout,
    /// How fresh it must be.
    pub(crate) level: FreshnessLevel,
    /// Deadline of the answer, fresh or not.
    pub(crate) deadline: Instant,
    /// Paths that were found to differ from the index.
    pub(crate) dirty: Vec<SourceKey>,
    /// Whether commits must be fresh too.
    pub(crate) needs_commits: bool,
    /// Round of reading commits that must end first; set by the worktree.
    pub(crate) commits_round: u64,
    /// Whether the walk that the level of the request requires has ended; set by the worktree.
    pub(crate) was_walked: bool,
    /// Number of failed attempts: the worktree changed while it was compared for this request, or its thread panicked.
    pub(crate) tries: u32,
    /// Channel for the answer.
    pub(crate) reply: oneshot::Sender<Result<Freshness, RpcError>>,
}

impl PendingRequest {
    /// Returns a request without dirty paths that does not wait for commits.
    pub(crate) fn new(
        layout: RepoLayout,
        level: FreshnessLevel,
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

/// How a reconcile ended.
#[derive(Debug)]
pub(crate) struct ReconcileEnd {
    /// The worktree's thread.
    pub(crate) thread: ThreadNumber,
    /// The scope of the reconcile.
    pub(crate) scope: ReconcileScope,
    /// The result of the reconcile.
    pub(crate) result: Result<ReconcileOutcome, IndexError>,
    /// Content of HEAD.
    pub(crate) head: Option<String>,
    /// Why some directories are not watched, and the remedy.
    pub(crate) unwatched: Option<String>,
    /// Whether the worktree still exists, if the reconcile failed.
    pub(crate) existence: Option<ExistenceCheck>,
}
