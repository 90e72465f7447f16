//! Holds the state that the daemon's threads share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memod_base::paths::{Env, RepoLayout};
use memod_base::threads::lock;
use memod_config::Config;
use memod_database::DatabaseError;
use memod_index_db::Reader;
use memod_indexing::{Indexer, Progress};
use memod_search::kept_rows::KeptRows;
use memod_search::shared_vectors::SharedVectors;
use memod_watch::Watch;

use super::advice::told::Told;
use super::disk_reads::RunningReads;
use super::event::Event;
use super::gates::Gates;
use super::kept_changes::KeptChanges;
use super::kept_chunks::KeptChunks;
use super::kept_maps::{KeptMaps, MOST_MAP_BYTES};
use super::kept_surveys::KeptSurveys;
use super::known_definitions::KnownDefinitions;
use super::known_texts::KnownTexts;
use super::language_model::LanguageModel;
use super::memories::keeper::Memories;
use super::models::{Loaded, Models};
use super::object_ids::KnownObjectIds;
use super::own_files::OwnFiles;
use super::subscriptions::Events;
use super::team_standing::Team;
use super::watch_queue::WatchQueue;

/// The state that the loop, the workers and the requests share.
pub(super) struct Shared {
    /// The worktree that the daemon was started for; all others have the same common dir.
    pub(super) layout: RepoLayout,
    /// Directories of the environment.
    pub(super) env: Env,
    /// Settings in force.
    pub(super) config: Config,
    /// Path of index.db.
    pub(super) index_db: PathBuf,
    /// Path of the socket.
    pub(super) socket: PathBuf,
    /// When the daemon started.
    pub(super) started: Instant,
    /// All watched directories.
    pub(super) watch: Watch,
    /// The models that make vectors.
    pub(super) models: Arc<Models>,
    /// All vectors.
    pub(super) nearest: SharedVectors,
    /// The code maps of worktrees.
    pub(super) maps: KeptMaps,
    /// The languages, manifests and programs of worktrees.
    pub(super) surveys: KeptSurveys,
    /// What has changed in worktrees since a commit.
    pub(super) changes: KeptChanges,
    /// The definitions of the versions that were compared for that.
    pub(super) definitions: KnownDefinitions,
    /// The chunks of worktrees.
    pub(super) chunks: KeptChunks,
    /// What searches have read of chunks and paths.
    pub(super) rows: KeptRows,
    /// What was found out about the texts of hits.
    pub(super) texts: KnownTexts,
    /// The language model, which is asked only if the settings name one.
    pub(super) llm: LanguageModel,
    /// Ids under which git stores contents.
    pub(super) object_ids: KnownObjectIds,
    /// Counters of the whole index.
    pub(super) progress: Arc<Progress>,
    /// Shared by the reconciles of all worktrees.
    pub(super) indexer: Arc<Indexer>,
    /// Number of times the index was emptied.
    pub(super) n_clears: AtomicU64,
    /// Open connections.
    pub(super) connections: AtomicUsize,
    /// Number of file-system events.
    pub(super) fs_events: AtomicU64,
    /// Full walks after the first of each view.
    pub(super) rescans: AtomicU64,
    /// Reconciles begun, those walks included.
    pub(super) reconciles: AtomicU64,
    /// Texts embedded.
    pub(super) embeds: AtomicU64,
    /// Searches answered.
    pub(super) queries: AtomicU64,
    /// The thread that owns the memories.
    pub(super) memories: Memories,
    /// The exchange with a team.
    pub(super) team: Team,
    /// Who has subscribed to events.
    pub(super) events: Arc<Events>,
    /// What sessions of agents were told.
    pub(super) told: Told,
    /// Counts the events of the watcher that wait for the loop.
    pub(super) watch_queue: Arc<WatchQueue>,
    /// What answers read from the disk.
    pub(super) disk_reads: RunningReads,
    /// Limits access to each file system, and the number of working threads.
    pub(super) gates: Gates,
    /// Time of the last call of a method, ms since the start.
    last_use_ms: AtomicU64,
    own_files: OwnFiles,
    loop_events: Sender<Event>,
    readers: Mutex<Vec<Reader>>,
}

impl Shared {
    #[expect(clippy::too_many_arguments, reason = "called once, by the start of the daemon")]
    pub(super) fn new(
        layout: RepoLayout,
        env: Env,
        config: Config,
        index_db: PathBuf,
        socket: PathBuf,
        watch: Watch,
        (indexer, progress): (Indexer, Arc<Progress>),
        (loop_events, watch_queue): (Sender<Event>, Arc<WatchQueue>),
        memories: Memories,
    ) -> Self {
        Self {
            own_files: OwnFiles::new(&layout, &socket, &index_db),
            told: Told::new(&layout),
            // All daemons of a user spend from one budget.
            llm: LanguageModel::new(&env.state_home().join("memod/llm")),
            watch_queue,
            gates: Gates::default(),
            disk_reads: RunningReads::default(),
            layout,
            env,
            config,
            index_db,
            socket,
            started: Instant::now(),
            watch,
            models: memories.models(),
            team: Team::default(),
            events: memories.events(),
            nearest: SharedVectors::default(),
            maps: KeptMaps::new(MOST_MAP_BYTES),
            surveys: KeptSurveys::default(),
            changes: KeptChanges::default(),
            definitions: KnownDefinitions::default(),
            chunks: KeptChunks::default(),
            rows: KeptRows::default(),
            texts: KnownTexts::default(),
            object_ids: KnownObjectIds::default(),
            progress,
            indexer: Arc::new(indexer),
            n_clears: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            fs_events: AtomicU64::new(0),
            rescans: AtomicU64::new(0),
            reconciles: AtomicU64::new(0),
            embeds: AtomicU64::new(0),
            queries: AtomicU64::new(0),
            last_use_ms: AtomicU64::new(0),
            loop_events,
            memories,
            readers: Mutex::default(),
        }
    }

    /// Returns the model whose vectors a snapshot has, or why it cannot be used.
    pub(super) fn model_of(&self, reader: &Reader) -> Loaded {
        let id = reader.model().map_err(|error| error.to_string())?;
        self.models.ready(&id)
    }

    /// Sends an event to the loop. Does nothing once the loop has stopped. Never blocks, because async code calls it, so the
    /// queue itself is unbounded: the server limits requests, [`WatchQueue`] limits events of the watcher, and there is one
    /// job or task for each event.
    pub(super) fn send(&self, event: Event) {
        let _ = self.loop_events.send(event);
    }

    /// Records that the daemon is in use.
    pub(super) fn note_use(&self) {
        let since_start = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_use_ms.fetch_max(since_start, Ordering::Relaxed);
    }

    /// Returns the time of the last use.
    pub(super) fn last_use(&self) -> Instant {
        self.started + Duration::from_millis(self.last_use_ms.load(Ordering::Relaxed))
    }

    /// Returns whether clients still find lock, socket and index.
    pub(super) fn is_found(&self) -> bool {
        self.own_files.are_found(&self.layout, &self.env)
    }

    /// Runs `read` with a pooled read connection.
    ///
    /// # Errors
    /// When the database cannot be opened, or what `read` failed with.
    pub(super) fn read<T, E: From<DatabaseError>>(
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
