//! Declares the events that the main loop reacts to.

use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::RepoLayout;
use memod_base::types::{SourceKey, ViewId};
use memod_git::Tip;
use memod_indexing::{CommitStep, IndexError, ReconcileOutcome, Scope, WalkProgress};
use memod_proto::{IndexProgress, Pending, RpcError, Sync, ViewInfo};
use memod_watch::WatchEvent;
use tokio::sync::oneshot;

use super::disk::task::{DiskReport, Lane, Opened, Survey};
use super::disk_reads::DiskReads;

/// Everything the main loop reacts to.
#[derive(Debug)]
pub(crate) enum Event {
    /// An event of the watcher.
    Watch(WatchEvent),
    /// A request waits for a fresh view.
    Ask(Ask),
    /// A worktree was opened, or could not be.
    Opened {
        /// The thread of the worktree.
        lane: Lane,
        /// The opened worktree, or the error.
        result: Result<Box<Opened>, RpcError>,
    },
    /// The thread of a worktree has completed a task.
    Disk {
        /// Which thread.
        lane: Lane,
        /// The result.
        report: DiskReport,
    },
    /// A reconcile has ended.
    Indexed(Box<Indexed>),
    /// A round of embedding has ended: it covered every text that waited for a vector when it was requested.
    Embedded {
        /// The round.
        round: u64,
        /// Why some texts have no vector.
        error: Option<String>,
    },
    /// Another model is to answer.
    ModelChosen,
    /// A `reindex` was requested.
    Reindex,
    /// The index has been emptied.
    Cleared,
    /// A step of reading commits has ended.
    Commits {
        /// Which view.
        view: ViewId,
        /// The tip whose history was read.
        tip: Tip,
        /// What it did.
        result: Result<CommitStep, IndexError>,
    },
    /// Somebody has subscribed to events: what is the case now is what later states are compared with.
    Subscribed,
    /// `status` asks for the loop's report on each worktree.
    Views(oneshot::Sender<Vec<ViewReport>>),
    /// The daemon is to stop, for this reason.
    Stop(&'static str),
}

/// What `status` and `doctor` show of a view.
#[derive(Debug)]
pub struct ViewReport {
    /// The view.
    pub view: ViewId,
    /// The receiver counts the files of the view.
    pub info: ViewInfo,
    /// Degradations with their remedies.
    pub degraded: Vec<String>,
}

/// A request that waits for freshness.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The worktree, located on disk after the request arrived.
    pub(crate) layout: RepoLayout,
    /// How fresh it must be.
    pub(crate) level: Sync,
    /// Deadline of the answer, fresh or not.
    pub(crate) deadline: Instant,
    /// Paths that were found to differ from the index.
    pub(crate) dirty: Vec<SourceKey>,
    /// Whether commits must be fresh too.
    pub(crate) needs_commits: bool,
    /// Round of reading commits that must end first; set by the view.
    pub(crate) commits_round: u64,
    /// Whether the walk that its level requires has ended; set by the view.
    pub(crate) was_walked: bool,
    /// Number of times that the worktree changed while it was compared for this request.
    pub(crate) tries: u32,
    /// Channel for the answer.
    pub(crate) reply: oneshot::Sender<Result<Freshness, RpcError>>,
}

impl Ask {
    /// Returns a request without dirty paths that does not wait for commits.
    pub(crate) fn new(
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
pub struct Freshness {
    /// The view.
    pub view: ViewId,
    /// Its worktree.
    pub layout: RepoLayout,
    /// Whether the promise of the requested level holds.
    pub fresh: bool,
    /// Why it does not hold.
    pub reason: Option<String>,
    /// What failed when it was last tried to make the promise hold.
    pub failed: Option<String>,
    /// Files of the worktree or of git that could not be read.
    pub files_note: Option<String>,
    /// Why commits are missing from the index, if any are.
    pub commits_note: Option<String>,
    /// Whether whole commits are missing, and not only their changed paths.
    pub lacks_commits: bool,
    /// Whether the history has older commits than the index holds, because of `index.commits`.
    pub has_older_commits: bool,
    /// Why the last round of embedding left something without a vector, if it did.
    pub embed_note: Option<String>,
    /// Pending work; the receiver counts the embeddings.
    pub pending: Pending,
    /// Progress of the view's reconcile.
    pub progress: Arc<WalkProgress>,
    /// What is being indexed; the receiver adds the embeddings.
    pub indexing: Option<IndexProgress>,
    /// [`WalkProgress::removals`] at this time.
    pub(crate) removals: u64,
    /// Reads the files of the answer.
    pub disk: Arc<DiskReads>,
}

impl Freshness {
    /// Returns whether something was removed from a manifest since; a snapshot may lack it.
    pub fn is_outdated(&self) -> bool {
        self.progress.removals() != self.removals
    }
}

/// How a reconcile ended.
#[derive(Debug)]
pub(crate) struct Indexed {
    /// The worktree's thread.
    pub(crate) lane: Lane,
    /// The scope of the comparison.
    pub(crate) scope: Scope,
    /// What it did.
    pub(crate) result: Result<ReconcileOutcome, IndexError>,
    /// Content of HEAD.
    pub(crate) head: Option<String>,
    /// Why some directories are not watched, and the remedy.
    pub(crate) unwatched: Option<String>,
    /// Whether the worktree still exists, if the reconcile failed.
    pub(crate) survey: Option<Survey>,
}
