//! Declares the jobs of the writer thread.

use std::sync::mpsc::SyncSender;

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_database::DatabaseError;
use memod_git::Tip;
use memod_index_db::{ManifestChange, NewVector, VectorOwner, WorktreeKey, WorktreeRow};
use memod_indexing::{AppliedChanges, IndexError};

use super::disk_task::ThreadNumber;
use super::loop_event::ReconcileEnd;

/// A job for the writer thread.
pub(crate) enum WriterJob {
    /// Find or create the row of a worktree, and record that this thread serves the worktree from now on.
    OpenRow { key: WorktreeKey, thread: ThreadNumber, reply: SyncSender<Result<WorktreeRow, DatabaseError>> },
    /// Write the changes of a reconcile.
    ApplyChanges {
        ticket: ReconcileOrigin,
        changes: Vec<ManifestChange>,
        reply: SyncSender<Result<AppliedChanges, IndexError>>,
    },
    /// Do the work that follows the end of a reconcile.
    EndReconcile(ReconcileOrigin, Box<ReconcileEnd>),
    /// Run one step of indexing the commits that a tip reaches.
    IndexCommits { worktree: WorktreeId, layout: Box<RepoLayout>, tip: Tip },
    /// Store these vectors, then acknowledge.
    StoreVectors(Vec<NewVector>, SyncSender<Result<(), DatabaseError>>),
    /// Record that the model fails on this text, then acknowledge.
    MarkEmbedFailed(VectorOwner, SyncSender<Result<(), DatabaseError>>),
    /// Record the next model, to which the index will switch, if there is one; then acknowledge.
    SetNextModel(Option<String>, SyncSender<Result<(), DatabaseError>>),
    /// Store these vectors of the next model, then acknowledge.
    StoreNextVectors(String, Vec<NewVector>, SyncSender<Result<(), DatabaseError>>),
    /// Switch to the next model, then acknowledge.
    SwitchModel(String, SyncSender<Result<(), DatabaseError>>),
    /// Forget a worktree that is gone.
    ForgetWorktree(WorktreeId),
    /// Empty the index, which can be rebuilt.
    ClearIndex,
    /// Delete unreferenced contents.
    CollectGarbage,
    /// End, because the daemon is stopping.
    Stop,
}

/// The worktree of a reconcile, and the generation of the index that it compares with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReconcileOrigin {
    pub(crate) worktree: WorktreeId,
    pub(crate) thread: ThreadNumber,
    /// Number of times that the index had been emptied when the reconcile began.
    pub(crate) n_clears: u64,
}
