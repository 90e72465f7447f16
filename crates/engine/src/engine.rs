//! Holds the state that the engine's threads share, and what requests ask of the engine.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use memod_base::paths::{Env, RepoLayout};
use memod_base::threads::lock;
use memod_base::types::SourceKey;
use memod_config::Config;
use memod_database::DatabaseError;
use memod_index_db::Reader;
use memod_indexing::{Indexer, Progress};
use memod_proto::Sync;
use memod_vectors::shared_vectors::SharedVectors;
use memod_watch::Watch;
use tokio::sync::oneshot;

use crate::errors::{RpcResult, stopping};
use crate::event::{Ask, Event, Freshness, ViewReport};
use crate::models::{Loaded, Models};
use crate::observer::EngineObserver;
use crate::own_files::OwnFiles;
use crate::subscriptions::Events;
use crate::watch_queue::WatchQueue;

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
    pub models: Arc<Models>,
    /// All vectors.
    pub nearest: SharedVectors,
    /// Counters of the whole index.
    pub progress: Arc<Progress>,
    /// The subscribers to events.
    pub events: Arc<Events>,
    /// Open connections.
    pub connections: AtomicUsize,
    /// Number of file-system events.
    pub fs_events: AtomicU64,
    /// Full walks after the first of each view.
    pub rescans: AtomicU64,
    /// Reconciles begun, those walks included.
    pub reconciles: AtomicU64,
    /// Texts embedded.
    pub embeds: AtomicU64,
    /// Shared by the reconciles of all worktrees.
    pub(crate) indexer: Arc<Indexer>,
    /// Number of times the index was emptied.
    pub(crate) n_clears: AtomicU64,
    /// Counts the events of the watcher that wait for the loop.
    pub(crate) watch_queue: Arc<WatchQueue>,
    /// Time of the last call of a method, ms since the start.
    last_use_ms: AtomicU64,
    own_files: OwnFiles,
    loop_events: Sender<Event>,
    observer: OnceLock<Box<dyn EngineObserver>>,
    readers: Mutex<Vec<Reader>>,
}

/// The values that an engine is made from.
pub struct EngineParts {
    /// The worktree that the daemon was started for.
    pub layout: RepoLayout,
    /// Directories of the environment.
    pub env: Env,
    /// Settings in force.
    pub config: Config,
    /// Path of the socket.
    pub socket: PathBuf,
    /// The models that make vectors.
    pub models: Arc<Models>,
    /// Indexes worktrees.
    pub indexer: Indexer,
    /// Counts what the indexer has done.
    pub progress: Arc<Progress>,
}

/// A request for a worktree that is fresh.
pub struct FreshnessRequest {
    /// The worktree, located on disk after the request arrived.
    pub layout: RepoLayout,
    /// How fresh it must be.
    pub level: Sync,
    /// Deadline of the answer, fresh or not.
    pub deadline: Instant,
    /// Paths that were found to differ from the index.
    pub dirty: Vec<SourceKey>,
    /// Whether commits must be fresh too.
    pub needs_commits: bool,
}

impl Engine {
    pub(crate) fn new(
        parts: EngineParts,
        watch: Watch,
        loop_events: Sender<Event>,
        watch_queue: Arc<WatchQueue>,
    ) -> Self {
        let EngineParts { layout, env, config, socket, models, indexer, progress } = parts;
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
            nearest: SharedVectors::default(),
            progress,
            events: Arc::default(),
            connections: AtomicUsize::new(0),
            fs_events: AtomicU64::new(0),
            rescans: AtomicU64::new(0),
            reconciles: AtomicU64::new(0),
            embeds: AtomicU64::new(0),
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

    /// Waits until a worktree is as fresh as wanted, or the deadline.
    ///
    /// # Errors
    /// When it cannot be served, or the daemon stops.
    pub async fn wait_until_fresh(&self, request: FreshnessRequest) -> RpcResult<Freshness> {
        let FreshnessRequest { layout, level, deadline, dirty, needs_commits } = request;
        let (reply, answer) = oneshot::channel();
        let ask = Ask::new(layout, level, deadline, reply);
        self.send(Event::Ask(Ask { dirty, needs_commits, ..ask }));
        answer.await.map_err(|_| stopping())?
    }

    /// Reports on each worktree that is served. Nothing is known while the daemon stops.
    pub async fn report_views(&self) -> Vec<ViewReport> {
        let (reply, answer) = oneshot::channel();
        self.send(Event::Views(reply));
        answer.await.unwrap_or_default()
    }

    /// Begins to index everything again.
    pub fn reindex(&self) {
        self.send(Event::Reindex);
    }

    /// Prepares the model that was chosen.
    pub fn note_chosen_model(&self) {
        self.send(Event::ModelChosen);
    }

    /// Takes the present state of each worktree for what a new subscriber knows.
    pub fn note_subscription(&self) {
        self.send(Event::Subscribed);
    }

    /// Stops the daemon, for a reason that its log names.
    pub fn stop(&self, why: &'static str) {
        self.send(Event::Stop(why));
    }

    /// Returns the model whose vectors a snapshot has, or why it cannot be used.
    ///
    /// # Errors
    /// When the model cannot be loaded, or its name not be read.
    pub fn model_of(&self, reader: &Reader) -> Loaded {
        let id = reader.model().map_err(|error| error.to_string())?;
        self.models.ready(&id)
    }

    /// Sends an event to the loop. Does nothing once the loop has stopped. Never blocks, because async code calls it, so the
    /// queue itself is unbounded: the server limits requests, [`WatchQueue`] limits events of the watcher, and there is one
    /// job or task for each event.
    pub(crate) fn send(&self, event: Event) {
        let _ = self.loop_events.send(event);
    }

    /// Records that the daemon is in use.
    pub fn note_use(&self) {
        let since_start = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_use_ms.fetch_max(since_start, Ordering::Relaxed);
    }

    /// Returns the time of the last use.
    pub(crate) fn last_use(&self) -> Instant {
        self.started + Duration::from_millis(self.last_use_ms.load(Ordering::Relaxed))
    }

    /// Returns whether clients still find lock, socket and index.
    pub fn is_found(&self) -> bool {
        self.own_files.are_found(&self.layout, &self.env)
    }

    /// Runs `read` with a pooled read connection.
    ///
    /// # Errors
    /// When the database cannot be opened, or what `read` failed with.
    pub fn read<T, E: From<DatabaseError>>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = lock(&self.readers).pop();
        let reader = idle.map_or_else(|| Reader::open(&self.index_db), Ok)?;
        let value = read(&reader);
        lock(&self.readers).push(reader);
        value
    }
}
