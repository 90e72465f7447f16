//! Opens the index, makes an engine and starts its threads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use memod_base::threads::caught;
use memod_index_db::Writer;
use memod_indexing::{Commits, Progress};
use memod_watch::Watch;

use crate::engine::{Engine, EngineParts};
use crate::event::Event;
use crate::main_loop::MainLoop;
use crate::threads::spawn;
use crate::watch_queue::WatchQueue;
use crate::worker::{self, Job};
use crate::{embedding, index_file, own_files};

/// index.db, open for writing.
pub struct OpenedIndex {
    writer: Writer,
    commits: Commits,
}

impl OpenedIndex {
    /// Opens index.db, or begins a new one where it is damaged. `n_commits` are indexed.
    ///
    /// # Errors
    /// When it cannot be opened, or the one that is there not be removed.
    pub fn open(index_db: &Path, n_commits: usize, progress: &Arc<Progress>) -> anyhow::Result<Self> {
        index_file::retry_transient(|| {
            let writer = index_file::open(index_db)?;
            Ok(Self { writer, commits: Commits::new(index_db, n_commits, Arc::clone(progress))? })
        })
    }
}

/// An engine whose threads do not run yet.
pub struct UnstartedEngine {
    engine: Arc<Engine>,
    events: Receiver<Event>,
}

impl UnstartedEngine {
    /// Makes an engine.
    ///
    /// # Errors
    /// When nothing can be watched.
    pub fn new(parts: EngineParts) -> anyhow::Result<Self> {
        let (loop_events, events) = channel();
        let (for_watch, watch_queue) = (loop_events.clone(), Arc::new(WatchQueue::default()));
        let counted = Arc::clone(&watch_queue);
        let watch = Watch::start(move |event| {
            counted.push(event).is_none_or(|event| for_watch.send(Event::Watch(event)).is_ok())
        })?;
        Ok(Self { engine: Arc::new(Engine::new(parts, watch, loop_events, watch_queue)), events })
    }

    /// Returns the engine.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engine)
    }

    /// Starts the threads. `stopped` is called on the thread of the loop, with the reason, as soon as the loop has ended; the other
    /// threads end soon after. With `index_on_demand`, nothing is indexed before a request needs it.
    ///
    /// # Errors
    /// When the system has no room for another thread.
    pub fn start(
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
        let writing = spawn("writer", move || worker::write(&for_writer, writer, commits, &job_queue))?;
        let embedding = spawn("embed", move || embedding::embed(&for_embed, &round_queue, &embed_jobs))?;
        let own_files = look_at_own_files(Arc::clone(&engine))?;
        let last_job = jobs.clone();
        let main_loop = MainLoop::new(Arc::clone(&engine), jobs, rounds, own_files);
        let looping = spawn("loop", move || {
            let why = caught(move || main_loop.run(&events, index_on_demand))
                .unwrap_or("the loop panicked, and it alone knows what is fresh");
            tracing::info!(why, "stopping");
            engine.progress.cancelled.store(true, Ordering::Relaxed);
            let _ = last_job.send(Job::Stop); // it may have ended
            stopped(why);
        })?;
        Ok([looping, embedding, writing])
    }
}

/// Starts the thread that looks whether the daemon's files are still its own, each time that it is asked.
fn look_at_own_files(engine: Arc<Engine>) -> anyhow::Result<Sender<()>> {
    let (ask, asked) = channel();
    spawn("own-files", move || {
        let lost = || engine.stop(own_files::LOST);
        own_files::look(&asked, || engine.is_found(), lost);
    })?;
    Ok(ask)
}
