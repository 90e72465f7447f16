//! Reconciles a worktree with its files, on a thread of its own.
//!
//! If a file system hangs, only requests for this worktree wait. Changes go to the writer in batches, and so does the end of
//! the reconcile.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_index_db::ManifestChange;
use memod_indexing::{AppliedChanges, IndexError, ReconcileScope, Reconciler};
use memod_watch::{Role, WatchError};

use super::end_guard::PanicReporter;
use super::git_watch::unwatched_message;
use crate::engine::Engine;
use crate::messages::disk_task::{ExistenceCheck, ReconcileRequest, ReconcileThreadHandle, ThreadNumber};
use crate::messages::loop_event::ReconcileEnd;
use crate::messages::writer_job::{ReconcileOrigin, WriterJob};
use crate::threads::spawn_thread;

/// Starts the thread that reconciles a worktree whose row exists.
///
/// # Errors
/// When the thread cannot be started, or the database cannot be opened.
pub(super) fn start_reconcile_thread(
    engine: &Arc<Engine>,
    jobs: &Sender<WriterJob>,
    thread: ThreadNumber,
    layout: &RepoLayout,
    worktree: WorktreeId,
) -> anyhow::Result<ReconcileThreadHandle> {
    let reconciler = Reconciler::new(&engine.indexer, layout, worktree)?;
    let progress = reconciler.progress();
    let (due, queue) = channel();
    let worktree =
        ReconcileThread { engine: Arc::clone(engine), jobs: jobs.clone(), thread, worktree, reconciler };
    spawn_thread("reconcile", move || worktree.run_reconciles(&queue))?;
    Ok(ReconcileThreadHandle { due, progress })
}

/// The state of the thread that reconciles one worktree.
struct ReconcileThread {
    engine: Arc<Engine>,
    jobs: Sender<WriterJob>,
    thread: ThreadNumber,
    worktree: WorktreeId,
    reconciler: Reconciler,
}

impl ReconcileThread {
    /// Runs reconciles until the loop drops the channel.
    fn run_reconciles(mut self, queue: &Receiver<ReconcileRequest>) {
        let engine = Arc::clone(&self.engine);
        let _end = PanicReporter::new(&engine, self.thread);
        for due in queue {
            let ticket = self.new_ticket();
            let indexed = self.run_reconcile(due, ticket);
            let _ = self.jobs.send(WriterJob::EndReconcile(ticket, Box::new(indexed))); // the writer ends only with the daemon
        }
    }

    /// Returns the ticket of a reconcile that begins now. By its generation of the index, the writer recognises changes that were
    /// found before the index was emptied.
    fn new_ticket(&self) -> ReconcileOrigin {
        let n_clears = self.engine.n_clears.load(Ordering::SeqCst);
        ReconcileOrigin { worktree: self.worktree, thread: self.thread, n_clears }
    }

    fn run_reconcile(&mut self, due: ReconcileRequest, ticket: ReconcileOrigin) -> ReconcileEnd {
        let ReconcileRequest { scope, git_changed } = due;
        let Self { engine, jobs, thread, worktree, reconciler } = self;
        let (mut unwatched, mut visited) = (None, HashSet::new());
        let mut on_dir = |dir: &Path| match engine.watch.add_dir(*worktree, Role::Worktree, dir) {
            Ok(()) => drop(visited.insert(dir.to_owned())),
            Err(WatchError::Gone(_) | WatchError::NotAccessible(_)) => {}
            Err(error) => unwatched = Some(unwatched_message(&error)),
        };
        let mut apply = |changes| apply_changes(jobs, ticket, changes);
        let result =
            IndexError::catch_panic(|| reconciler.reconcile(&scope, git_changed, &mut on_dir, &mut apply));
        if scope == ReconcileScope::Full && result.is_ok() {
            engine.watch.keep_dirs(*worktree, Role::Worktree, &visited);
        }
        let head = memod_git::read_head(reconciler.layout());
        let existence = result.is_err().then(|| ExistenceCheck::check_on_disk(reconciler.layout()));
        ReconcileEnd { thread: *thread, scope, result, head, unwatched, existence }
    }
}

/// Sends changes to the writer, and waits until they are written.
///
/// # Errors
/// When the writer cannot write them, or the daemon is stopping.
fn apply_changes(
    jobs: &Sender<WriterJob>,
    ticket: ReconcileOrigin,
    changes: Vec<ManifestChange>,
) -> Result<AppliedChanges, IndexError> {
    let (reply, applied) = sync_channel(1);
    jobs.send(WriterJob::ApplyChanges { ticket, changes, reply }).map_err(|_| IndexError::Cancelled)?;
    applied.recv().map_err(|_| IndexError::Cancelled)?
}
