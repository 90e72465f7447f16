//! Runs the thread that owns memory.db.

pub(in crate::daemon) mod memory_finder;
pub(super) mod thread_panics;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memod_base::clock::{now_ms, read_uptime};
use memod_base::threads::{catch_panic, lock};
use memod_database::DatabaseError;
use memod_embed::BUILTIN_ID;
use memod_engine::Engine;
use memod_engine::errors::{RpcResult, stopping_error};
use memod_engine::events::subscriptions::{EventBroker, TopicSet};
use memod_engine::model_registry::{ModelRegistry, ModelResult};
use memod_engine::threads::spawn_thread;
use memod_memory_db::{
    ImportSource, MemoryStore, ModelPreparation, RecordFunctions, remove_leftover_copies,
    remove_unfinished_backup,
};
use memod_proto::{RpcError, code};
use tokio::sync::{Notify, oneshot};

use self::memory_finder::{MemoryFinder, build_vector_model};
use self::thread_panics::PanicLog;
use crate::daemon::shared::client_connection::ClientConnection;
use crate::daemon::shared::known_files::KnownFiles;
use crate::daemon::shared::memory_scope::WHOLE_REPOSITORY;

/// A database of another system that is being read.
pub(in crate::daemon) struct OpenForeignDatabase {
    pub(in crate::daemon) path: PathBuf,
    /// Name of the system.
    pub(in crate::daemon) system: String,
    /// The connection whose client reads the database.
    pub(in crate::daemon) connection: Weak<ClientConnection>,
    /// The copy of the database that is read.
    pub(in crate::daemon) copy: ImportSource,
}

/// Minimum time between two backups, and so the longest time whose changes are lost if the file is deleted while no daemon runs.
const BACKUP_INTERVAL: Duration = Duration::from_secs(600);
/// Minimum time between two backups, in multiples of the time that the first of them took.
const BACKUP_PAUSE_FACTOR: u32 = 100;
/// Delay after a failure to compute or store vectors, or while a model is loading, before they are tried again.
const EMBED_RETRY: Duration = Duration::from_secs(2);

/// A handle to the thread that owns the memories.
pub(in crate::daemon) struct MemoryThread {
    jobs: Sender<MemoryJob>,
    pub(in crate::daemon) finder: Arc<MemoryFinder>,
    models: Arc<ModelRegistry>,
    events: Arc<EventBroker>,
    /// The database of another system that is being read.
    pub(in crate::daemon) foreign_database: Mutex<Option<OpenForeignDatabase>>,
    /// The last examinations of the files of memories in each worktree.
    pub(in crate::daemon) files: KnownFiles,
    /// The generation of the rows, see [`MemoryStore::file_generation`].
    pub(in crate::daemon) generation: Arc<AtomicU64>,
    /// Notified when there may be changes to send to the team.
    pub(in crate::daemon) outbox_notify: Arc<Notify>,
    pub(in crate::daemon) panics: Arc<PanicLog>,
    /// Whether the state dir is gone, or is that of another repository.
    is_lost: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl MemoryThread {
    /// Starts the thread, which opens the database. `functions` derive data from the records of memories.
    pub(in crate::daemon) fn start(engine: &Engine, functions: RecordFunctions) -> anyhow::Result<Self> {
        let Engine { layout, env, config, .. } = engine;
        let purges_expired = config.memory.on_expiry == "purge";
        let models = Arc::clone(&engine.models);
        let (jobs, queue) = channel();
        remove_leftover_copies(&layout.state_dir);
        let left_in = layout.state_dir.clone();
        // On a separate thread, because the state dir may be on a file system that hangs.
        drop(spawn_thread("left-backup", move || remove_unfinished_backup(&left_in))?);
        let (state_dir, elsewhere) = (layout.state_dir.clone(), layout.other_state_dirs(env));
        let for_store = Arc::clone(&models);
        let (finder, panics) =
            (Arc::new(MemoryFinder::new(Arc::clone(&models))), Arc::new(PanicLog::default()));
        let (finder_of_thread, panics_of_thread) = (Arc::clone(&finder), Arc::clone(&panics));
        let (models_of_thread, is_lost) = (Arc::clone(&models), Arc::<AtomicBool>::default());
        let is_lost_at_end = Arc::clone(&is_lost);
        let new_store = move || {
            let models = Arc::clone(&for_store);
            let make_model = Box::new(move |id: &str| build_vector_model(&models, id));
            let mut store = MemoryStore::new(&state_dir, functions, BUILTIN_ID, make_model);
            store.enable_expiry(read_uptime, purges_expired);
            store.set_other_state_dirs(&elsewhere);
            store
        };
        let close_store = move |store: &mut MemoryStore| match is_lost_at_end.load(Ordering::Acquire) {
            true => store.close_abandoned(),
            false => drop(store.close(now_ms()).inspect_err(warn_backup_failed)),
        };
        let thread = spawn_thread("memory", move || {
            let ends = (new_store, close_store);
            run_memory_thread(ends, &finder_of_thread, &models_of_thread, &queue, &panics_of_thread);
        })?;
        let thread = Mutex::new(Some(thread));
        let events = Arc::clone(&engine.events);
        let (files, generation) = (KnownFiles::default(), Arc::default());
        Ok(Self {
            jobs,
            finder,
            models,
            events,
            foreign_database: Mutex::default(),
            files,
            generation,
            outbox_notify: Arc::default(),
            panics,
            is_lost,
            thread,
        })
    }

    /// Makes the thread check whether another model was chosen.
    pub(in crate::daemon) fn check_chosen_model(&self) {
        let _ = self.jobs.send(MemoryJob::Run(Box::new(|_| Ok(())))); // the thread may have ended
    }

    /// Returns the identity of the model whose vectors memories have.
    pub(in crate::daemon) fn model_id(&self) -> String {
        self.finder.with_vectors(|vectors| vectors.model_id().to_owned())
    }

    /// Returns the model whose vectors memories have, or why it cannot be used.
    pub(in crate::daemon) fn load_ready_model(&self) -> ModelResult {
        self.models.load_if_ready(&self.finder.with_vectors(|vectors| vectors.model_id().to_owned()))
    }

    /// Runs a job for the whole repository on the thread, and waits for the result.
    pub(in crate::daemon) async fn run_job<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<T> {
        self.send_job(run)?.await.map_err(|_| self.thread_error())
    }

    /// Sends a job for the whole repository to the thread.
    pub(in crate::daemon) fn send_job<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<oneshot::Receiver<T>> {
        self.send_job_in(WHOLE_REPOSITORY, run)
    }

    /// Sends a job to the thread. The job sees the memories as a worktree has them.
    pub(in crate::daemon) fn send_job_in<T: Send + 'static>(
        &self,
        worktree: i64,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<oneshot::Receiver<T>> {
        let (reply, answer) = oneshot::channel();
        let (finder, events) = (Arc::clone(&self.finder), Arc::clone(&self.events));
        let generation = Arc::clone(&self.generation);
        let job = MemoryJob::Run(Box::new(move |store| {
            store.watch_changes(events.has_subscriber(TopicSet::OF_MEMORIES));
            store.select_worktree(worktree);
            let value = run(store);
            generation.store(store.file_generation(), Ordering::Release);
            // The copy in the finder is updated before the answer is sent, so that acknowledged changes are found. The answer is
            // sent even if that panics.
            let followed = catch_unwind(AssertUnwindSafe(|| finder.apply_changes(store)));
            drop(reply.send(value));
            events.publish_memory_changes(store.take_changes());
            followed
        }));
        self.jobs.send(job).map_err(|_| stopping_error())?;
        Ok(answer)
    }

    /// Returns the error for a thread that did not answer.
    pub(in crate::daemon) fn thread_error(&self) -> RpcError {
        self.panics.restart_refusal(Instant::now()).unwrap_or_else(|| {
            RpcError::new(
                code::INTERNAL,
                "internal error; nothing was changed, and the daemon keeps running; `memo daemon logs` shows details",
            )
        })
    }

    /// Records whether the state dir is lost. If it is, the thread writes nothing there when it ends.
    pub(in crate::daemon) fn set_lost(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Release);
    }

    /// Lets the thread end after its queued jobs, and waits for that.
    pub(in crate::daemon) fn stop(&self) {
        let _ = self.jobs.send(MemoryJob::Stop); // the thread may have ended
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic is in the log already
        }
    }
}

/// A job for the thread.
enum MemoryJob {
    Run(Box<JobFn>),
    Stop,
}

/// A job; returns the panic of the work after its answer, if there was one.
type JobFn = dyn FnOnce(&mut MemoryStore) -> thread::Result<()> + Send;

/// Runs jobs until the thread is stopped, and then `close_store`. After a panic outside of a job, the thread continues with a
/// reopened store, a limited number of times; after that, jobs fail with the reason.
fn run_memory_thread(
    (new_store, close_store): (impl Fn() -> MemoryStore, impl Fn(&mut MemoryStore)),
    finder: &MemoryFinder,
    models: &ModelRegistry,
    queue: &Receiver<MemoryJob>,
    panics: &PanicLog,
) {
    let (mut first, mut is_over) = (None, false);
    loop {
        let Err(why) = catch_panic(|| {
            let mut store = new_store();
            serve_jobs(&mut store, first.take(), finder, models, queue);
            is_over = true;
            finder.close();
            close_store(&mut store);
        }) else {
            return;
        };
        if is_over {
            return;
        }
        finder.close();
        panics.note_panic(why, Instant::now());
        tracing::error!("the thread that owns the memories panicked");
        while panics.restart_refusal(Instant::now()).is_some() {
            match queue.recv() {
                Ok(MemoryJob::Stop) | Err(_) => return,
                // Dropping a job closes the channel of its answer, which reports the failure to the caller.
                Ok(job) => first = panics.restart_refusal(Instant::now()).is_none().then_some(job),
            }
        }
    }
}

/// Runs jobs until the thread is stopped. Vectors and backups are made while the queue is empty, so that no job waits for them.
fn serve_jobs(
    store: &mut MemoryStore,
    mut first: Option<MemoryJob>,
    finder: &MemoryFinder,
    models: &ModelRegistry,
    queue: &Receiver<MemoryJob>,
) {
    let (mut backup_at, mut embed_at): (Option<Instant>, Option<Instant>) = (None, None);
    let _ =
        store.open_now(now_ms()).inspect_err(|error| tracing::error!(%error, "memory.db cannot be opened"));
    finder.apply_changes(store);
    loop {
        let job = match first.take().ok_or(()).or_else(|()| queue.recv_timeout(Duration::ZERO)) {
            Err(RecvTimeoutError::Timeout) => {
                if store.lacks_vectors() && is_due(embed_at) {
                    if store
                        .compute_missing_vectors(now_ms())
                        .inspect_err(warn_vectors_failed)
                        .unwrap_or(false)
                    {
                        finder.apply_changes(store);
                        continue;
                    }
                    embed_at = Some(Instant::now() + EMBED_RETRY);
                }
                if prepare_model(store, finder, models) {
                    continue;
                }
                if is_due(backup_at) {
                    let started = Instant::now();
                    if store.back_up_if_changed(now_ms()).inspect_err(warn_backup_failed).unwrap_or(true) {
                        backup_at = Some(
                            Instant::now() + BACKUP_INTERVAL.max(started.elapsed() * BACKUP_PAUSE_FACTOR),
                        );
                    }
                }
                if store.lacks_vectors() || is_other_model_chosen(store, models) {
                    match queue.recv_timeout(EMBED_RETRY) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        received => received.ok(),
                    }
                } else {
                    queue.recv().ok()
                }
            }
            received => received.ok(),
        };
        match job {
            Some(MemoryJob::Run(job)) => match catch_unwind(AssertUnwindSafe(|| job(store))) {
                // The caller notices the closed channel; the panic hook has logged the panic.
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(panic)) => resume_unwind(panic),
            },
            Some(MemoryJob::Stop) | None => return,
        }
    }
}

/// Returns whether a time has come; `None` counts as past.
fn is_due(at: Option<Instant>) -> bool {
    at.is_none_or(|at| at <= Instant::now())
}

/// Returns whether another model was chosen, which may still be loading.
fn is_other_model_chosen(store: &MemoryStore, models: &ModelRegistry) -> bool {
    models.chosen_model_id().is_ok_and(|chosen| chosen != store.model_id() && models.is_usable(&chosen))
}

/// Computes some vectors with the chosen model, and switches to the model when no vector is missing. Returns whether there may be
/// more to do.
fn prepare_model(store: &mut MemoryStore, finder: &MemoryFinder, models: &ModelRegistry) -> bool {
    let Ok(chosen) = models.chosen_model_id() else { return false };
    if !models.is_usable(&chosen) {
        return false; // the loader sends a job when it is done
    }
    match store.prepare_model(now_ms(), &chosen).inspect_err(warn_vectors_failed) {
        Ok(ModelPreparation::InProgress) => true,
        Ok(ModelPreparation::Switched) => {
            finder.apply_changes(store);
            tracing::info!(model = chosen, "memories are now searched with the vectors of another model");
            true
        }
        Ok(ModelPreparation::Idle) | Err(_) => false,
    }
}

fn warn_vectors_failed(error: &DatabaseError) {
    tracing::warn!(%error, "vectors of memories could not be computed or stored");
}

fn warn_backup_failed(error: &DatabaseError) {
    tracing::warn!(%error, "no backup of the memories could be made");
}
