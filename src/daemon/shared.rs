//! Holds the state that requests share: the engine, the thread of the memories, and caches.

pub(super) mod change_cache;
pub(super) mod chunk_cache;
pub(super) mod client_connection;
pub(super) mod code_map_cache;
pub(super) mod delivered_advice;
pub(super) mod exchange_status;
pub(super) mod known_definitions;
pub(super) mod known_files;
pub(super) mod known_renames;
pub(super) mod known_texts;
pub(super) mod language_model;
pub(super) mod memory_scope;
pub(super) mod memory_thread;
pub(super) mod object_ids;
pub(super) mod project_survey;
pub(super) mod structure_cache;
pub(super) mod watched_files;
pub(super) mod worktree_cache;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memod_engine::Engine;
use memod_engine::file_access::disk_reads::RunningReads;
use memod_engine::file_access::gates::Gates;
use memod_search::candidates::row_cache::RowCache;
use tokio::sync::watch;

use crate::daemon::shared::change_cache::ChangeCache;
use crate::daemon::shared::chunk_cache::ChunkCache;
use crate::daemon::shared::code_map_cache::{CodeMapCache, MOST_MAP_BYTES};
use crate::daemon::shared::delivered_advice::DeliveredAdvice;
use crate::daemon::shared::exchange_status::TeamExchange;
use crate::daemon::shared::known_definitions::KnownDefinitions;
use crate::daemon::shared::known_renames::KnownRenames;
use crate::daemon::shared::known_texts::KnownTexts;
use crate::daemon::shared::language_model::LanguageModel;
use crate::daemon::shared::memory_thread::MemoryThread;
use crate::daemon::shared::object_ids::KnownObjectIds;
use crate::daemon::shared::project_survey::SurveyCache;
use crate::daemon::shared::structure_cache::StructureCache;

/// The engine, and the state that requests share.
pub(super) struct Shared {
    /// Keeps the index current.
    pub(super) engine: Arc<Engine>,
    /// The code maps of worktrees.
    pub(super) maps: CodeMapCache,
    /// The languages, manifests and programs of worktrees.
    pub(super) surveys: SurveyCache,
    /// The changes of worktrees since a commit.
    pub(super) changes: ChangeCache,
    /// The definitions of compared versions of files.
    pub(super) definitions: KnownDefinitions,
    /// The chunks of worktrees.
    pub(super) chunks: ChunkCache,
    /// The structures of files, and the paths and modules of worktrees.
    pub(super) structures: StructureCache,
    /// The rows of chunks and paths that searches have read.
    pub(super) rows: RowCache,
    /// Whether files were renamed to others.
    pub(super) renames: KnownRenames,
    /// The numbers of lines and the credentials in the texts of hits.
    pub(super) texts: KnownTexts,
    /// The language model, which is asked only if the settings name one.
    pub(super) llm: LanguageModel,
    /// The object ids that git gives to the contents of files.
    pub(super) object_ids: KnownObjectIds,
    /// Number of searches since the daemon started.
    pub(super) queries: AtomicU64,
    /// The thread that owns the memories.
    pub(super) memories: MemoryThread,
    /// The exchange with a team.
    pub(super) team: TeamExchange,
    /// The advice that sessions of agents were given.
    pub(super) delivered_advice: DeliveredAdvice,
    /// Whether the daemon is stopping.
    pub(super) stopping: watch::Sender<bool>,
    /// Running reads of the disk.
    pub(super) disk_reads: RunningReads,
    /// Limits access to each file system, and the number of working threads.
    pub(super) gates: Gates,
}

impl Shared {
    pub(super) fn new(engine: Arc<Engine>, memories: MemoryThread) -> Self {
        let stopping = watch::Sender::new(false);
        Self {
            delivered_advice: DeliveredAdvice::new(&engine.layout),
            // All daemons of a user spend from one budget.
            llm: LanguageModel::new(&engine.env.state_home().join("memod/llm"), stopping.subscribe()),
            stopping,
            gates: Gates::default(),
            disk_reads: RunningReads::default(),
            team: TeamExchange::default(),
            maps: CodeMapCache::new(MOST_MAP_BYTES),
            surveys: SurveyCache::default(),
            changes: ChangeCache::default(),
            definitions: KnownDefinitions::default(),
            chunks: ChunkCache::default(),
            structures: StructureCache::default(),
            rows: RowCache::default(),
            renames: KnownRenames::default(),
            texts: KnownTexts::default(),
            object_ids: KnownObjectIds::default(),
            queries: AtomicU64::new(0),
            memories,
            engine,
        }
    }

    /// Forgets all cached names and paths, because some may have become secret.
    pub(super) fn forget_secrets(&self) {
        self.maps.retain_worktrees(&[]);
        self.surveys.clear();
        self.changes.clear();
        self.definitions.clear();
        self.chunks.clear();
        self.structures.clear();
        self.rows.clear();
        self.renames.clear();
    }
}
