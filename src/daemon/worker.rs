//! Runs the writer thread and the embedding thread.
//!
//! Two threads. `writer` owns the write connection: it reconciles views and keeps vectors, one job after the
//! other. `embed` computes vectors after the lexical commit, and hands them to `writer` batch by batch.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use super::clock::now_ms;
use super::disk::task::Survey;
use super::disk::with_remedy;
use super::event::{Event, Indexed};
use super::index_file::quarantine;
use super::memories::finder;
use super::scrub::Scrubber;
use super::shared::Shared;
use super::vectors::{copy_vectors, load_vectors};
use crate::embed::Embedder;
use crate::git::{self, Tip};
use crate::index::{Batch, Commits, IndexError, Indexer, Scope, embed_chunks, embed_paths};
use crate::paths::RepoLayout;
use crate::scan;
use crate::store::{NewVector, Reader, StoreError, ViewKey, ViewRow};
use crate::types::{ChunkId, ViewId};
use crate::watch::{Role, WatchError};

/// Chunks a step of embedding.
const EMBED_STEP: usize = 256;

/// What the writer thread is asked for.
pub(super) enum Job {
    /// Find or make the row of a worktree.
    Open(ViewKey, SyncSender<Result<ViewRow, StoreError>>),
    /// Make a manifest equal the worktree.
    Reconcile { view: ViewId, layout: Box<RepoLayout>, scope: Scope, git_changed: bool },
    /// Read some of the commits that a tip reaches.
    Commits { view: ViewId, layout: Box<RepoLayout>, tip: Tip },
    /// Keep these; then say so.
    Vectors(Vec<NewVector>, SyncSender<Result<(), StoreError>>),
    /// Forget a worktree that is gone.
    Forget(ViewId),
    /// Forget all that can be made again.
    Clear,
    /// Delete contents nobody refers to.
    Collect,
}

/// Ends the daemon when the writer does, be it by a panic: without it nothing would ever be fresh again.
struct ShutdownGuard<'a>(&'a Shared);

impl Drop for ShutdownGuard<'_> {
    fn drop(&mut self) {
        self.0.send(Event::Stop("the writer has ended"));
    }
}

/// Runs jobs until the loop is gone.
pub(super) fn write(shared: &Shared, mut indexer: Indexer, mut commits: Commits, jobs: &Receiver<Job>) {
    let _last_word = ShutdownGuard(shared);
    let mut scrubber = Scrubber::default();
    while let Some(job) = scrubber.next_job(shared, &mut indexer, jobs) {
        match job {
            Job::Open(key, reply) => {
                let row = open(&mut indexer, &shared.index_db, &key);
                if let Ok(row) = &row {
                    commits.forget_view(row.id);
                }
                let _ = reply.send(row); // who asked is gone only when the daemon ends
                copy_vectors(shared, &mut indexer);
            }
            Job::Reconcile { view, layout, scope, git_changed } => {
                let indexed = reconcile(shared, &mut indexer, view, &layout, scope, git_changed);
                scrubber.scrub(shared, &mut indexer); // before anybody is told, as the vectors
                copy_vectors(shared, &mut indexer); // before anybody is told: who waited searches the copy
                shared.send(Event::Indexed(Box::new(indexed)));
            }
            Job::Commits { view, layout, tip } => {
                let result = commits.step(indexer.writer(), &layout, view, &tip);
                copy_vectors(shared, &mut indexer);
                shared.send(Event::Commits { view, tip, result });
            }
            Job::Vectors(vectors, done) => {
                let kept = indexer.writer().add_vectors(&vectors);
                copy_vectors(shared, &mut indexer);
                let _ = done.send(kept); // the other side is gone only when the daemon ends
            }
            Job::Forget(view) => {
                if let Err(error) = indexer.writer().forget_view(view) {
                    tracing::warn!(%error, "cannot forget a worktree that is gone");
                }
            }
            Job::Clear => {
                commits.forget();
                match indexer.writer().clear() {
                    Ok(()) => load_vectors(shared),
                    Err(error) => tracing::error!(%error, "cannot empty the index"),
                }
                shared.send(Event::Cleared); // all is compared again even where nothing was emptied
            }
            Job::Collect => collect(shared, &mut indexer),
        }
    }
}

/// Forgets worktrees that went while nobody looked, then contents nobody refers to.
fn collect(shared: &Shared, indexer: &mut Indexer) {
    let is_gone = |git_dir: &str, inode: u64| match scan::lstat(Path::new(git_dir)) {
        Ok(stat) => stat.inode != inode,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if let Err(error) = indexer.writer().forget_views(is_gone) {
        tracing::warn!(%error, "cannot forget worktrees that are gone");
    }
    let keep_s = shared.config.index.keep_days as i64 * 86_400;
    match indexer.writer().collect_garbage(now_ms() / 1_000, keep_s) {
        Ok(0) => {}
        Ok(n_blobs) => {
            tracing::info!(n_blobs, "deleted contents nobody refers to");
            load_vectors(shared);
        }
        Err(error) => tracing::warn!(%error, "cannot delete contents nobody refers to"),
    }
}

fn open(indexer: &mut Indexer, index_db: &Path, key: &ViewKey) -> Result<ViewRow, StoreError> {
    let view = indexer.writer().view(key)?;
    let row = Reader::open(index_db)?.view(view)?;
    Ok(row.expect("the row was written a moment ago by this thread"))
}

fn reconcile(
    shared: &Shared,
    indexer: &mut Indexer,
    view: ViewId,
    layout: &RepoLayout,
    scope: Scope,
    git_changed: bool,
) -> Indexed {
    let mut unwatched = None;
    let mut on_dir = |dir: &Path| match shared.watch.add_dir(view, Role::Worktree, dir) {
        Ok(()) | Err(WatchError::Gone(_) | WatchError::Closed(_)) => {}
        Err(error) => unwatched = Some(with_remedy(&error)),
    };
    let mut result = indexer.reconcile(layout, view, &scope, git_changed, &mut on_dir);
    let head = git::head(layout);
    if result.is_ok()
        && scope == Scope::Full
        && let Err(error) = indexer.writer().mark_complete(view, head.as_deref())
    {
        result = Err(error.into());
    }
    if let Err(IndexError::Store(StoreError::Corrupt { .. })) = &result {
        set_aside(&shared.index_db);
    }
    let survey = result.is_err().then(|| Survey::of(layout));
    Indexed { view, scope, result, head, unwatched, survey }
}

/// Makes room for a new index, which the next daemon builds.
fn set_aside(index_db: &Path) {
    match quarantine(index_db) {
        Ok(aside) => tracing::error!(aside = %aside.display(), "the index is damaged; put aside"),
        Err(error) => tracing::error!(%error, "the index is damaged, and cannot be put aside"),
    }
}

/// Loads the model, then embeds what waits, a round for each wake-up.
pub(super) fn embed(shared: &Shared, rounds: &Receiver<u64>, jobs: &Sender<Job>) {
    let model = finder::load(&shared.model);
    while let Ok(mut round) = rounds.recv() {
        round = rounds.try_iter().last().unwrap_or(round);
        let error = match model {
            Ok(embedder) => embed_round(shared, embedder.as_ref(), jobs).err().map(|e| e.to_string()),
            Err(why) => Some(why.clone()),
        };
        if let Some(error) = &error {
            tracing::warn!(error, "embedding stopped; keyword search goes on");
        }
        shared.send(Event::Embedded { round, error });
    }
}

fn embed_round(shared: &Shared, embedder: &dyn Embedder, jobs: &Sender<Job>) -> anyhow::Result<()> {
    let reader = Reader::open(&shared.index_db)?;
    while !shared.progress.is_cancelled() {
        let batch = embed_paths(&reader, embedder, EMBED_STEP)?;
        if batch.n_seen == 0 {
            break;
        }
        keep(shared, batch, jobs)?;
    }
    let mut after = ChunkId(0);
    loop {
        let batch = embed_chunks(&reader, embedder, after, EMBED_STEP, shared.config.index.max_file_bytes)?;
        after = batch.last;
        if batch.n_seen == 0 || shared.progress.is_cancelled() {
            return Ok(());
        }
        keep(shared, batch, jobs)?;
    }
}

fn keep(shared: &Shared, batch: Batch, jobs: &Sender<Job>) -> anyhow::Result<()> {
    if let Some(error) = batch.failed {
        return Err(error.into());
    }
    let n_vectors = batch.vectors.len() as u64;
    let (done, ack) = sync_channel(1);
    jobs.send(Job::Vectors(batch.vectors, done))?;
    ack.recv()??;
    shared.embeds.fetch_add(n_vectors, Ordering::Relaxed);
    Ok(())
}
