//! Reconciles a worktree with its files, on a thread of its own.
//!
//! If a file system hangs, only requests for this worktree wait. Changes go to the writer in batches, and so does the end of
//! the reconcile.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use memod_base::paths::RepoLayout;
use memod_base::types::ViewId;
use memod_index_db::Change;
use memod_indexing::{Applied, IndexError, Reconciler};
use memod_watch::{Role, WatchError};

use super::Engine;
use super::disk::task::{Due, Lane, Survey, Walker};
use super::disk::{EndGuard, with_remedy};
use super::event::Indexed;
use super::threads::spawn;
use super::worker::{Job, Ticket};

/// Starts the thread that reconciles a worktree whose row exists.
///
/// # Errors
/// When the thread cannot be started, or the database cannot be opened.
pub(super) fn start(
    engine: &Arc<Engine>,
    jobs: &Sender<Job>,
    lane: Lane,
    layout: &RepoLayout,
    view: ViewId,
) -> anyhow::Result<Walker> {
    let reconciler = Reconciler::new(&engine.indexer, layout, view)?;
    let progress = reconciler.progress();
    let (due, queue) = channel();
    let worktree = Worktree { engine: Arc::clone(engine), jobs: jobs.clone(), lane, view, reconciler };
    spawn("reconcile", move || worktree.serve(&queue))?;
    Ok(Walker { due, progress })
}

/// A worktree on its thread.
struct Worktree {
    engine: Arc<Engine>,
    jobs: Sender<Job>,
    lane: Lane,
    view: ViewId,
    reconciler: Reconciler,
}

impl Worktree {
    /// Runs reconciles until the loop drops the channel.
    fn serve(mut self, queue: &Receiver<Due>) {
        let engine = Arc::clone(&self.engine);
        let _end = EndGuard::new(&engine, self.lane);
        for due in queue {
            let ticket = self.ticket();
            let indexed = self.reconcile(due, ticket);
            let _ = self.jobs.send(Job::End(ticket, Box::new(indexed))); // the writer ends only with the daemon
        }
    }

    /// Returns the generation of the index, by which the writer recognises changes from before it was emptied.
    fn ticket(&self) -> Ticket {
        let n_clears = self.engine.n_clears.load(Ordering::SeqCst);
        Ticket { view: self.view, lane: self.lane, n_clears }
    }

    fn reconcile(&mut self, due: Due, ticket: Ticket) -> Indexed {
        let Due { scope, git_changed } = due;
        let Self { engine, jobs, lane, view, reconciler } = self;
        let mut unwatched = None;
        let mut on_dir = |dir: &Path| match engine.watch.add_dir(*view, Role::Worktree, dir) {
            Ok(()) | Err(WatchError::Gone(_) | WatchError::Closed(_)) => {}
            Err(error) => unwatched = Some(with_remedy(&error)),
        };
        let mut apply = |changes| apply(jobs, ticket, changes);
        let run = || reconciler.reconcile(&scope, git_changed, &mut on_dir, &mut apply);
        let result = IndexError::catch_panic(run);
        let head = memod_git::read_head(reconciler.layout());
        let survey = result.is_err().then(|| Survey::of(reconciler.layout()));
        Indexed { lane: *lane, scope, result, head, unwatched, survey }
    }
}

/// Sends changes to the writer, and waits until they are written.
fn apply(jobs: &Sender<Job>, ticket: Ticket, changes: Vec<Change>) -> Result<Applied, IndexError> {
    let (reply, applied) = sync_channel(1);
    jobs.send(Job::Apply { ticket, changes, reply }).map_err(|_| IndexError::Cancelled)?;
    applied.recv().map_err(|_| IndexError::Cancelled)?
}
