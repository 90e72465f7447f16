//! Opens the index, makes an engine and starts its threads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use memod_base::threads::catch_panic;
use memod_index_db::IndexWriter;
use memod_indexing::{CommitIndexer, Progress};
use memod_watch::Watch;

use crate::engine::{Engine, EngineOptions};
use crate::main_loop::MainLoop;
use crate::messages::loop_event::LoopEvent;
use crate::messages::watch_queue::WatchQueue;
use crate::messages::writer_job::WriterJob;
use crate::own_files::{self, index_file};
use crate::threads::spawn_thread;
use crate::{embedding, writer};

/// index.db, open for writing.
pub struct OpenedIndex {
    writer: IndexWriter,
    commits: CommitIndexer,
}

impl OpenedIndex {
    /// Opens index.db, or replaces a damaged one. At most `n_commits` commits of each worktree are indexed.
    ///
    /// # Errors
    /// When index.db cannot be opened, or a damaged one cannot be removed.
    pub fn open(index_db: &Path, n_commits: usize, progress: &Arc<Progress>) -> anyhow::Result<Self> {
        index_file::retry_transient(|| {
            let writer = index_file::open_or_rebuild(index_db)?;
            Ok(Self { writer, commits: CommitIndexer::new(index_db, n_commits, Arc::clone(progress))? })
        })
    }
}

/// An engine whose threads do not run yet.
pub struct UnstartedEngine {
    engine: Arc<Engine>,
    events: Receiver<LoopEvent>,
}

impl UnstartedEngine {
    /// Makes an engine, and starts the watcher.
    ///
    /// # Errors
    /// When the watcher cannot be started.
    pub fn new(parts: EngineOptions) -> anyhow::Result<Self> {
        let (loop_events, events) = channel();
        let (for_watch, watch_queue) = (loop_events.clone(), Arc::new(WatchQueue::default()));
        let queue = Arc::clone(&watch_queue);
        let watch = Watch::start(move |event| {
            queue.admit_event(event).is_none_or(|event| for_watch.send(LoopEvent::Watch(event)).is_ok())
        })?;
        Ok(Self { engine: Arc::new(Engine::new(parts, watch, loop_events, watch_queue)), events })
    }

    /// Returns the engine.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// Starts the threads; returns those of the loop, of embedding and of the writer. `stopped` is called on the thread of the
    /// loop, with the reason, as soon as the loop has ended; the other threads end soon after. With `index_on_demand`, nothing is
    /// indexed before a request needs it.
    ///
    /// # Errors
    /// When the system has no room for another thread.
    pub fn start_threads(
        self,
        index: OpenedIndex,
        index_on_demand: bool,
        stopped: impl FnOnce(&'static str) + Send + 'static,
    ) -> anyhow::Result<[JoinHandle<()>; 3]> {
        let Self { engine, events } = self;
        let OpenedIndex { writer, commits } = index;
        let (jobs, job_queue) = channel();
        let (rounds, round_queue) = channel();
        let (for_writer, for_embed, embed_jobs) = (Arc::clone(&engine), Arc::clone(&engine), jobs.clone());
        let writing =
            spawn_thread("writer", move || writer::run_writer(&for_writer, writer, commits, &job_queue))?;
        let embedding =
            spawn_thread("embed", move || embedding::run_embedding(&for_embed, &round_queue, &embed_jobs))?;
        let own_files = start_own_files_thread(Arc::clone(&engine))?;
        let last_job = jobs.clone();
        let main_loop = MainLoop::new(Arc::clone(&engine), jobs, rounds, own_files);
        let looping = spawn_thread("loop", move || {
            let why = catch_panic(move || main_loop.run(&events, index_on_demand))
                .unwrap_or("the loop panicked, so freshness is unknown");
            tracing::info!(why, "stopping");
            engine.progress.cancelled.store(true, Ordering::Relaxed);
            let _ = last_job.send(WriterJob::Stop); // the writer may have ended
            stopped(why);
        })?;
        Ok([looping, embedding, writing])
    }
}

/// Starts the thread that checks, on each request, whether clients still find the daemon's files. Returns the sender of requests.
fn start_own_files_thread(engine: Arc<Engine>) -> anyhow::Result<Sender<()>> {
    let (request, requests) = channel();
    spawn_thread("own-files", move || {
        own_files::run_own_files_checks(
            &requests,
            || engine.is_reachable(),
            || engine.stop(own_files::FILES_LOST_REASON),
        );
    })?;
    Ok(request)
}
