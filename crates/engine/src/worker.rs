//! Runs the writer thread.
//!
//! It owns the write connection, writes the changes that the threads of worktrees find, and stores vectors, one job after
//! the other. It accesses no file of a worktree, but it reads commits: a git directory that hangs blocks it.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};

use memod_base::paths::RepoLayout;
use memod_base::threads::caught;
use memod_base::types::ViewId;
use memod_database::DatabaseError;
use memod_git::Tip;
use memod_index_db::{Change, Embedded, NewVector, Reader, ViewKey, ViewRow, Writer};
use memod_indexing::{Applied, Commits, IndexError, Scope};

use super::Engine;
use super::clock::now_ms;
use super::disk::task::Lane;
use super::event::{Event, Indexed};
use super::index_file;
use super::own_files::LOST;
use super::scrub::Scrubber;
use super::vectors::{copy_vectors, fill_table, load_vectors, switch_model};

/// A job for the writer thread.
pub(super) enum Job {
    /// Find or create the row of a worktree, which this lane serves from now on.
    Open { key: ViewKey, lane: Lane, reply: SyncSender<Result<ViewRow, DatabaseError>> },
    /// Write the changes of a reconcile.
    Apply { ticket: Ticket, changes: Vec<Change>, reply: SyncSender<Result<Applied, IndexError>> },
    /// A reconcile has ended.
    End(Ticket, Box<Indexed>),
    /// Read some of the commits that a tip reaches.
    Commits { view: ViewId, layout: Box<RepoLayout>, tip: Tip },
    /// Store these, then acknowledge.
    Vectors(Vec<NewVector>, SyncSender<Result<(), DatabaseError>>),
    /// Record that the model fails on this text, then acknowledge.
    EmbedFailed(Embedded, SyncSender<Result<(), DatabaseError>>),
    /// Record which model is to follow, then acknowledge.
    PlanModel(Option<String>, SyncSender<Result<(), DatabaseError>>),
    /// Store these of the model that is to follow, then acknowledge.
    NextVectors(String, Vec<NewVector>, SyncSender<Result<(), DatabaseError>>),
    /// Switch to the model that is to follow, then acknowledge.
    SwitchModel(String, SyncSender<Result<(), DatabaseError>>),
    /// Forget a worktree that is gone.
    Forget(ViewId),
    /// Empty the index, which can be rebuilt.
    Clear,
    /// Delete unreferenced contents.
    Collect,
    /// End, because the daemon is stopping.
    Stop,
}

/// The worktree of a reconcile, and the generation of the index that it compares with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) view: ViewId,
    pub(super) lane: Lane,
    /// Number of times that the index had been emptied when it began.
    pub(super) n_clears: u64,
}

/// Stops the daemon when the writer ends: without it nothing would ever be fresh again.
struct ShutdownGuard<'a>(&'a Engine);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.send(Event::Stop("the writer has ended"));
    }
}

/// Runs jobs until the daemon stops. A job that panics fails, its transaction is rolled back, and the caller gets an error.
pub(super) fn write(engine: &Engine, mut writer: Writer, commits: Commits, jobs: &Receiver<Job>) {
    let _guard = ShutdownGuard(engine);
    let mut scrubber = Scrubber::default();
    let mut writing = Writing { engine, commits, lanes: HashMap::new() };
    loop {
        match next_job(engine, &mut writer, &mut scrubber, jobs) {
            None | Some(Job::Stop) => return,
            Some(Job::End(ticket, indexed)) => {
                let indexed = writing.end(&mut writer, ticket, *indexed);
                scrubber.scrub(engine, &mut writer); // before the loop hears of it, as the vectors
                copy_vectors(engine, &mut writer); // before the loop hears of it: a request that waited searches the copy
                engine.send(Event::Indexed(Box::new(indexed)));
            }
            Some(job) => {
                if caught(|| writing.run(&mut writer, job)).is_err() {
                    tracing::error!("a job of the writer panicked");
                }
            }
        }
    }
}

/// Waits for a job; merges words, fills the table of vectors and scrubs the index in the meantime.
fn next_job(
    engine: &Engine,
    writer: &mut Writer,
    scrubber: &mut Scrubber,
    jobs: &Receiver<Job>,
) -> Option<Job> {
    while merge_words(engine, writer) || fill_table(engine, writer) {
        if writer.is_behind() {
            continue;
        }
        match jobs.try_recv() {
            Err(TryRecvError::Empty) => {}
            job => return job.ok(),
        }
    }
    scrubber.next_job(engine, writer, jobs)
}

/// Merges some of the words of the index. Returns whether there is more to do.
fn merge_words(engine: &Engine, writer: &mut Writer) -> bool {
    match caught(|| writer.merge_words()) {
        Ok(Ok(has_more)) => has_more,
        Ok(Err(DatabaseError::Corrupt { source, .. })) => {
            if remove_damaged_index(&engine.index_db, &source) {
                engine.send(Event::Stop(LOST)); // no reconcile fails that would have it noticed
            }
            false
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "words cannot be merged; tried again with the next change");
            writer.has_failed_merge()
        }
        Err(_) => false,
    }
}

/// The state of the writer thread besides the connection.
struct Writing<'a> {
    engine: &'a Engine,
    commits: Commits,
    /// The lane that serves each view.
    lanes: HashMap<ViewId, Lane>,
}

impl Writing<'_> {
    fn run(&mut self, writer: &mut Writer, job: Job) {
        let engine = self.engine;
        match job {
            Job::Open { key, lane, reply } => {
                let row = open(writer, &engine.index_db, &key);
                if let Ok(row) = &row {
                    self.commits.forget_view(row.id);
                    self.lanes.insert(row.id, lane);
                }
                let _ = reply.send(row); // who asked is gone only when the daemon ends
                copy_vectors(engine, writer);
            }
            Job::Apply { ticket, changes, reply } => {
                let applied = IndexError::catch_panic(|| {
                    self.check(ticket)?;
                    let applied = writer.apply(ticket.view, &changes, now_s())?;
                    engine.notify_observer(|observer| {
                        observer.changes_written(ticket.view, applied.0, &changes);
                    });
                    Ok(applied)
                });
                let _ = reply.send(applied); // who asked is gone only by a panic
            }
            Job::Commits { view, layout, tip } => {
                let result = IndexError::catch_panic(|| self.commits.index_step(writer, &layout, view, &tip));
                copy_vectors(engine, writer);
                engine.send(Event::Commits { view, tip, result });
            }
            Job::Vectors(vectors, done) => {
                let kept = writer.add_vectors(&vectors);
                copy_vectors(engine, writer);
                let _ = done.send(kept); // the other side is gone only when the daemon ends
            }
            Job::EmbedFailed(of, done) => {
                let _ = done.send(writer.mark_embed_failed(of)); // as above
            }
            Job::PlanModel(next, done) => drop(done.send(writer.plan_model(next.as_deref()))), // as above
            Job::NextVectors(model, vectors, done) => {
                let _ = done.send(writer.add_next_vectors(&model, &vectors)); // as above
            }
            Job::SwitchModel(model, done) => {
                let _ = done.send(switch_model(engine, writer, &model)); // as above
            }
            Job::Forget(view) => {
                self.lanes.remove(&view);
                if let Err(error) = writer.forget_view(view) {
                    tracing::warn!(%error, "cannot forget a worktree that is gone");
                }
            }
            Job::Clear => self.clear(writer),
            Job::Collect => collect(engine, writer),
            Job::End(..) | Job::Stop => unreachable!("`write` takes them"),
        }
    }

    /// # Errors
    /// When the index that a reconcile compared with is gone, so that it must not write.
    fn check(&self, ticket: Ticket) -> Result<(), IndexError> {
        let Ticket { view, lane, n_clears } = ticket;
        let is_served = self.lanes.get(&view) == Some(&lane);
        let is_same_index = self.engine.n_clears.load(Ordering::SeqCst) == n_clears;
        if is_served && is_same_index { Ok(()) } else { Err(IndexError::Outdated) }
    }

    /// Runs the work that follows a reconcile.
    fn end(&self, writer: &mut Writer, ticket: Ticket, mut indexed: Indexed) -> Indexed {
        if let Ok(outcome) = indexed.result {
            let done = IndexError::catch_panic(|| {
                self.check(ticket)?;
                self.engine.indexer.purge_secrets(writer)?;
                if indexed.scope == Scope::Full {
                    writer.mark_complete(ticket.view, indexed.head.as_deref())?;
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

    fn clear(&mut self, writer: &mut Writer) {
        self.commits.forget_all();
        let cleared = IndexError::catch_panic(|| {
            writer.clear()?;
            // Only now, because reconciles that begin from here on compare with the empty index.
            self.engine.n_clears.fetch_add(1, Ordering::SeqCst);
            load_vectors(self.engine, writer);
            Ok(())
        });
        if let Err(error) = cleared {
            tracing::error!(%error, "cannot empty the index");
        }
        self.engine.send(Event::Cleared); // all is compared again even where nothing was emptied
    }
}

/// Forgets worktrees that have disappeared, then unreferenced contents.
fn collect(engine: &Engine, writer: &mut Writer) {
    let is_gone = |git_dir: &str, inode: u64| match memod_scan::lstat(Path::new(git_dir)) {
        Ok(stat) => stat.inode != inode,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if let Err(error) = writer.forget_views(is_gone) {
        tracing::warn!(%error, "cannot forget worktrees that are gone");
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

fn now_s() -> i64 {
    now_ms() / 1_000
}

fn open(writer: &mut Writer, index_db: &Path, key: &ViewKey) -> Result<ViewRow, DatabaseError> {
    let view = writer.view(key)?;
    let row = Reader::open(index_db)?.view(view)?;
    Ok(row.expect("the row was written a moment ago by this thread"))
}

/// Removes the damaged index; the next daemon builds a new one. Returns whether it is gone.
fn remove_damaged_index(index_db: &Path, why: &impl Display) -> bool {
    let removed = index_file::remove(index_db, why);
    match &removed {
        Ok(()) => tracing::error!("the index is damaged; removed"),
        Err(error) => tracing::error!(%error, "the index is damaged, and cannot be removed"),
    }
    removed.is_ok()
}
