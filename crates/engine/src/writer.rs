//! Runs the writer thread.
//!
//! The thread owns the write connection, writes the changes that the threads of worktrees find, and stores vectors, one job after
//! the other. It accesses no file of a worktree, but it reads commits: a git directory that hangs blocks the writer.

mod scrub;
mod vector_copy;

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};

use memod_base::clock::now_ms;
use memod_base::threads::catch_panic;
use memod_base::types::WorktreeId;
use memod_database::DatabaseError;
use memod_index_db::{IndexReader, IndexWriter, WorktreeKey, WorktreeRow};
use memod_indexing::{CommitIndexer, IndexError, ReconcileScope};

use self::scrub::Scrubber;
use self::vector_copy::{fill_table_step, load_vectors, switch_model, update_vectors_in_memory};
use crate::engine::Engine;
use crate::messages::disk_task::ThreadNumber;
use crate::messages::loop_event::{LoopEvent, ReconcileEnd};
use crate::messages::writer_job::{ReconcileOrigin, WriterJob};
use crate::own_files::{FILES_LOST_REASON, index_file};

/// Stops the daemon when the writer thread ends, because without it no worktree would ever be fresh again.
struct ShutdownGuard<'a>(&'a Engine);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.send_event(LoopEvent::Stop("the writer thread has ended"));
    }
}

/// Runs jobs until the daemon stops. A job that panics fails, its transaction is rolled back, and the caller gets an error.
pub(super) fn run_writer(
    engine: &Engine,
    mut writer: IndexWriter,
    commits: CommitIndexer,
    jobs: &Receiver<WriterJob>,
) {
    let _guard = ShutdownGuard(engine);
    let mut scrubber = Scrubber::default();
    let mut writing = WriterState { engine, commits, threads: HashMap::new() };
    loop {
        match wait_for_job(engine, &mut writer, &mut scrubber, jobs) {
            None | Some(WriterJob::Stop) => return,
            Some(WriterJob::EndReconcile(ticket, indexed)) => {
                let indexed = writing.end_reconcile(&mut writer, ticket, *indexed);
                scrubber.scrub(engine, &mut writer); // like the vectors, before the loop gets the event
                update_vectors_in_memory(engine, &mut writer); // before the loop gets the event: a request that waited searches the copy
                engine.send_event(LoopEvent::ReconcileEnded(Box::new(indexed)));
            }
            Some(job) => {
                if catch_panic(|| writing.run_job(&mut writer, job)).is_err() {
                    tracing::error!("a job of the writer panicked");
                }
            }
        }
    }
}

/// Waits for the next job; meanwhile merges words, fills the table of vectors and scrubs the index. `None` if no job can come.
fn wait_for_job(
    engine: &Engine,
    writer: &mut IndexWriter,
    scrubber: &mut Scrubber,
    jobs: &Receiver<WriterJob>,
) -> Option<WriterJob> {
    while merge_segments_step(engine, writer) || fill_table_step(engine, writer) {
        if writer.has_merge_backlog() {
            continue;
        }
        match jobs.try_recv() {
            Err(TryRecvError::Empty) => {}
            job => return job.ok(),
        }
    }
    scrubber.wait_for_job(engine, writer, jobs)
}

/// Runs one step of merging the word lists of the index. Returns whether there is more to do.
fn merge_segments_step(engine: &Engine, writer: &mut IndexWriter) -> bool {
    match catch_panic(|| writer.merge_segments_step()) {
        Ok(Ok(has_more)) => has_more,
        Ok(Err(DatabaseError::Corrupt { source, .. })) => {
            if remove_damaged_index(&engine.index_db, &source) {
                engine.send_event(LoopEvent::Stop(FILES_LOST_REASON)); // otherwise nothing would notice it before the next reconcile fails
            }
            false
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot merge the word lists of the index; the next change tries again");
            writer.has_failed_merge()
        }
        Err(_) => false,
    }
}

/// The state of the writer thread besides the connection.
struct WriterState<'a> {
    engine: &'a Engine,
    commits: CommitIndexer,
    /// The thread that serves each worktree.
    threads: HashMap<WorktreeId, ThreadNumber>,
}

impl WriterState<'_> {
    fn run_job(&mut self, writer: &mut IndexWriter, job: WriterJob) {
        let engine = self.engine;
        match job {
            WriterJob::OpenRow { key, thread, reply } => {
                let row = find_or_add_row(writer, &engine.index_db, &key);
                if let Ok(row) = &row {
                    self.commits.forget_worktree(row.id);
                    self.threads.insert(row.id, thread);
                }
                let _ = reply.send(row); // the receiver is gone only when the daemon ends
                update_vectors_in_memory(engine, writer);
            }
            WriterJob::ApplyChanges { ticket, changes, reply } => {
                let applied = IndexError::catch_panic(|| {
                    self.check_ticket(ticket)?;
                    let applied = writer.apply_changes(ticket.worktree, &changes, now_s())?;
                    engine.notify_observer(|observer| {
                        observer.changes_written(ticket.worktree, applied.0, &changes);
                    });
                    Ok(applied)
                });
                let _ = reply.send(applied); // the receiver is gone only after a panic
            }
            WriterJob::IndexCommits { worktree, layout, tip } => {
                let result =
                    IndexError::catch_panic(|| self.commits.index_step(writer, &layout, worktree, &tip));
                update_vectors_in_memory(engine, writer);
                engine.send_event(LoopEvent::CommitStepEnded { worktree, tip, result });
            }
            WriterJob::StoreVectors(vectors, done) => {
                let kept = writer.add_vectors(&vectors);
                update_vectors_in_memory(engine, writer);
                let _ = done.send(kept); // the other side is gone only when the daemon ends
            }
            WriterJob::MarkEmbedFailed(of, done) => {
                let _ = done.send(writer.mark_embed_failed(of)); // as above
            }
            WriterJob::SetNextModel(next, done) => drop(done.send(writer.set_next_model(next.as_deref()))), // as above
            WriterJob::StoreNextVectors(model, vectors, done) => {
                let _ = done.send(writer.add_next_vectors(&model, &vectors)); // as above
            }
            WriterJob::SwitchModel(model, done) => {
                let _ = done.send(switch_model(engine, writer, &model)); // as above
            }
            WriterJob::ForgetWorktree(worktree) => {
                self.threads.remove(&worktree);
                if let Err(error) = writer.forget_worktree(worktree) {
                    tracing::warn!(%error, "cannot delete the rows of a worktree that is gone");
                }
            }
            WriterJob::ClearIndex => self.clear_index(writer),
            WriterJob::CollectGarbage => collect_garbage(engine, writer),
            WriterJob::EndReconcile(..) | WriterJob::Stop => unreachable!("`run_writer` handles them"),
        }
    }

    /// Checks that a reconcile may still write.
    ///
    /// # Errors
    /// When the index was emptied, or the worktree reopened, since the reconcile began.
    fn check_ticket(&self, ticket: ReconcileOrigin) -> Result<(), IndexError> {
        let ReconcileOrigin { worktree, thread, n_clears } = ticket;
        let is_served = self.threads.get(&worktree) == Some(&thread);
        let is_same_index = self.engine.n_clears.load(Ordering::SeqCst) == n_clears;
        if is_served && is_same_index { Ok(()) } else { Err(IndexError::Outdated) }
    }

    /// Purges secrets and marks the worktree complete after a successful reconcile. Returns the end of the reconcile, with the
    /// error if that failed.
    fn end_reconcile(
        &self,
        writer: &mut IndexWriter,
        ticket: ReconcileOrigin,
        mut indexed: ReconcileEnd,
    ) -> ReconcileEnd {
        if let Ok(outcome) = indexed.result {
            let done = IndexError::catch_panic(|| {
                self.check_ticket(ticket)?;
                self.engine.indexer.purge_secrets(writer)?;
                if indexed.scope == ReconcileScope::Full {
                    writer.mark_complete(ticket.worktree, indexed.head.as_deref())?;
                }
                Ok(outcome)
            });
            indexed.result = done;
        }
        if let Err(IndexError::Database(DatabaseError::Corrupt { source, .. })) = &indexed.result {
            remove_damaged_index(&self.engine.index_db, source);
        }
        indexed
    }

    fn clear_index(&mut self, writer: &mut IndexWriter) {
        self.commits.forget_all();
        let cleared = IndexError::catch_panic(|| {
            writer.clear_index()?;
            // The counter changes only after the index is empty: a reconcile that reads the new number compares with the empty index.
            self.engine.n_clears.fetch_add(1, Ordering::SeqCst);
            load_vectors(self.engine, writer);
            Ok(())
        });
        if let Err(error) = cleared {
            tracing::error!(%error, "cannot empty the index");
        }
        self.engine.send_event(LoopEvent::Cleared); // everything is compared again even if the index could not be emptied
    }
}

/// Deletes the rows of worktrees that have disappeared, then unreferenced contents.
fn collect_garbage(engine: &Engine, writer: &mut IndexWriter) {
    if let Err(error) = writer.forget_worktrees_where(is_worktree_gone) {
        tracing::warn!(%error, "cannot delete the rows of worktrees that are gone");
    }
    let keep_s = engine.config.index.keep_days as i64 * 86_400;
    match writer.collect_garbage(now_s(), keep_s) {
        Ok(0) => {}
        Ok(n_blobs) => {
            tracing::info!(n_blobs, "deleted unreferenced contents");
            load_vectors(engine, writer);
        }
        Err(error) => tracing::warn!(%error, "cannot delete unreferenced contents"),
    }
}

fn is_worktree_gone(git_dir: &str, inode: u64) -> bool {
    match memod_scan::lstat(Path::new(git_dir)) {
        Ok(stat) => stat.inode != inode,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn now_s() -> i64 {
    now_ms() / 1_000
}

fn find_or_add_row(
    writer: &mut IndexWriter,
    index_db: &Path,
    key: &WorktreeKey,
) -> Result<WorktreeRow, DatabaseError> {
    let worktree = writer.find_or_add_worktree(key)?;
    let row = IndexReader::open(index_db)?.find_worktree(worktree)?;
    Ok(row.expect("the row was written a moment ago by this thread"))
}

/// Removes the damaged index; the next daemon builds a new one. Returns whether it is gone.
fn remove_damaged_index(index_db: &Path, why: &impl Display) -> bool {
    let removed = index_file::remove_damaged_index(index_db, why);
    match &removed {
        Ok(()) => tracing::error!("the index is damaged; removed"),
        Err(error) => tracing::error!(%error, "the index is damaged, and cannot be removed"),
    }
    removed.is_ok()
}
