//! Holds the state that the engine's threads share, and has the functions that requests call.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use memod_base::paths::{Env, RepoLayout};
use memod_base::threads::lock;
use memod_config::Config;
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_indexing::{Indexer, Progress};
use memod_vectors::shared_vectors::SharedVectors;
use memod_watch::Watch;
use tokio::sync::oneshot;

use crate::errors::{RpcResult, stopping_error};
use crate::events::observer::EngineObserver;
use crate::events::subscriptions::EventBroker;
use crate::freshness::{Freshness, FreshnessRequest, WorktreeReport};
use crate::messages::loop_event::{LoopEvent, PendingRequest};
use crate::messages::watch_queue::WatchQueue;
use crate::model_registry::{ModelRegistry, ModelResult};
use crate::own_files::OwnFiles;

/// The state that the loop, the workers and the requests share.
pub struct Engine {
    /// The worktree that the daemon was started for; all others have the same common dir.
    pub layout: RepoLayout,
    /// Directories of the environment.
    pub env: Env,
    /// Settings in force.
    pub config: Config,
    /// Path of index.db.
    pub index_db: PathBuf,
    /// Path of the socket.
    pub socket: PathBuf,
    /// When the daemon started.
    pub started: Instant,
    /// All watched directories.
    pub watch: Watch,
    /// The models that make vectors.
    pub models: Arc<ModelRegistry>,
    /// The vectors of chunks for searches; those above the memory budget are in a table instead.
    pub vectors: SharedVectors,
    /// Counters of the indexing of all worktrees.
    pub progress: Arc<Progress>,
    /// Passes events to subscribers.
    pub events: Arc<EventBroker>,
    /// Number of open connections.
    pub connections: AtomicUsize,
    /// Number of file-system events so far.
    pub fs_events: AtomicU64,
    /// Number of full walks so far, without the first one of each worktree.
    pub rescans: AtomicU64,
    /// Number of reconciles begun so far, full walks included.
    pub reconciles: AtomicU64,
    /// Number of vectors computed and stored so far.
    pub n_embedded: AtomicU64,
    /// Shared by the reconciles of all worktrees.
    pub(crate) indexer: Arc<Indexer>,
    /// Number of times the index was emptied.
    pub(crate) n_clears: AtomicU64,
    /// Counts the events of the watcher that wait for the loop.
    pub(crate) watch_queue: Arc<WatchQueue>,
    /// Time of the last use of the daemon, ms since its start.
    last_use_ms: AtomicU64,
    own_files: OwnFiles,
    loop_events: Sender<LoopEvent>,
    observer: OnceLock<Box<dyn EngineObserver>>,
    readers: Mutex<Vec<IndexReader>>,
}

/// The values that an engine is made from.
pub struct EngineOptions {
    /// The worktree that the daemon was started for.
    pub layout: RepoLayout,
    /// Directories of the environment.
    pub env: Env,
    /// Settings in force.
    pub config: Config,
    /// Path of the socket.
    pub socket: PathBuf,
    /// The models that make vectors.
    pub models: Arc<ModelRegistry>,
    /// Indexes worktrees.
    pub indexer: Indexer,
    /// Counts the work of the indexer.
    pub progress: Arc<Progress>,
}

impl Engine {
    pub(crate) fn new(
        parts: EngineOptions,
        watch: Watch,
        loop_events: Sender<LoopEvent>,
        watch_queue: Arc<WatchQueue>,
    ) -> Self {
        let EngineOptions { layout, env, config, socket, models, indexer, progress } = parts;
        let index_db = layout.index_file();
        Self {
            own_files: OwnFiles::new(&layout, &socket, &index_db),
            layout,
            env,
            config,
            index_db,
            socket,
            started: Instant::now(),
            watch,
            models,
            vectors: SharedVectors::default(),
            progress,
            events: Arc::default(),
            connections: AtomicUsize::new(0),
            fs_events: AtomicU64::new(0),
            rescans: AtomicU64::new(0),
            reconciles: AtomicU64::new(0),
            n_embedded: AtomicU64::new(0),
            indexer: Arc::new(indexer),
            n_clears: AtomicU64::new(0),
            watch_queue,
            last_use_ms: AtomicU64::new(0),
            loop_events,
            observer: OnceLock::new(),
            readers: Mutex::default(),
        }
    }

    /// Sets the observer; only the first call counts.
    pub fn set_observer(&self, observer: Box<dyn EngineObserver>) {
        let _ = self.observer.set(observer); // there is one daemon in a process
    }

    /// Notifies the observer, if there is one.
    pub(crate) fn notify_observer(&self, notify: impl FnOnce(&dyn EngineObserver)) {
        if let Some(observer) = self.observer.get() {
            notify(&**observer);
        }
    }

    /// Waits until a worktree is as fresh as the request wants, at most until its deadline. Returns how fresh the worktree is.
    ///
    /// # Errors
    /// When the worktree cannot be served, or the daemon stops.
    pub async fn wait_until_fresh(&self, request: FreshnessRequest) -> RpcResult<Freshness> {
        let FreshnessRequest { layout, level, deadline, dirty, needs_commits } = request;
        let (reply, answer) = oneshot::channel();
        let request = PendingRequest::new(layout, level, deadline, reply);
        self.send_event(LoopEvent::Request(PendingRequest { dirty, needs_commits, ..request }));
        answer.await.map_err(|_| stopping_error())?
    }

    /// Returns a report on each worktree that is served; none while the daemon stops.
    pub async fn report_worktrees(&self) -> Vec<WorktreeReport> {
        let (reply, answer) = oneshot::channel();
        self.send_event(LoopEvent::ReportRequested(reply));
        answer.await.unwrap_or_default()
    }

    /// Requests that the index is emptied and everything is indexed again. Does not wait for it.
    pub fn reindex(&self) {
        self.send_event(LoopEvent::Reindex);
    }

    /// Wakes the embedding thread, which prepares the chosen model. Does not wait for it.
    pub fn request_model_preparation(&self) {
        self.send_event(LoopEvent::ModelChosen);
    }

    /// Makes the main loop record the present state of each worktree as the one that a new subscriber knows.
    pub fn record_state_for_subscriber(&self) {
        self.send_event(LoopEvent::Subscribed);
    }

    /// Requests that the daemon stops. `why` is written to its log.
    pub fn stop(&self, why: &'static str) {
        self.send_event(LoopEvent::Stop(why));
    }

    /// Returns the model whose vectors a snapshot has.
    ///
    /// # Errors
    /// Why the model cannot be used: its identity cannot be read, or it cannot be loaded or is still being loaded.
    pub fn active_model(&self, reader: &IndexReader) -> ModelResult {
        let id = reader.model_id().map_err(|error| error.to_string())?;
        self.models.load_if_ready(&id)
    }

    /// Sends an event to the loop. Does nothing once the loop has stopped. Never blocks, because async code calls it, so the
    /// queue itself is unbounded: the server limits requests, [`WatchQueue`] limits events of the watcher, and every other
    /// event is the result of one job or task.
    pub(crate) fn send_event(&self, event: LoopEvent) {
        let _ = self.loop_events.send(event);
    }

    /// Records that the daemon is in use now, which delays its idle exit.
    pub fn record_use(&self) {
        let since_start = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_use_ms.fetch_max(since_start, Ordering::Relaxed);
    }

    /// Returns the time of the last use.
    pub(crate) fn last_use(&self) -> Instant {
        self.started + Duration::from_millis(self.last_use_ms.load(Ordering::Relaxed))
    }

    /// Returns whether clients still find the lock, the socket and the index of this daemon.
    pub fn is_reachable(&self) -> bool {
        self.own_files.are_found(&self.layout, &self.env)
    }

    /// Runs `read` with a pooled read connection.
    ///
    /// # Errors
    /// When the database cannot be opened, or `read` fails.
    pub fn with_reader<T, E: From<DatabaseError>>(
        &self,
        read: impl FnOnce(&IndexReader) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = lock(&self.readers).pop();
        let reader = idle.map_or_else(|| IndexReader::open(&self.index_db), Ok)?;
        let value = read(&reader);
        lock(&self.readers).push(reader);
        value
    }
}
