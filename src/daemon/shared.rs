//! Holds the state that requests share, beside the engine.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memod_engine::Engine;
use memod_engine::disk_reads::RunningReads;
use memod_engine::gates::Gates;
use memod_search::kept_rows::KeptRows;

use crate::daemon::context::advice::told::Told;
use crate::daemon::context::kept_surveys::KeptSurveys;
use crate::daemon::definitions::known_definitions::KnownDefinitions;
use crate::daemon::history::kept_changes::KeptChanges;
use crate::daemon::history::object_ids::KnownObjectIds;
use crate::daemon::language_model::LanguageModel;
use crate::daemon::memories::keeper::Memories;
use crate::daemon::memories::team_standing::Team;
use crate::daemon::search::kept_chunks::KeptChunks;
use crate::daemon::search::known_texts::KnownTexts;
use crate::daemon::structure::kept_maps::{KeptMaps, MOST_MAP_BYTES};

/// The engine, and what requests keep between them.
pub(super) struct Shared {
    /// Keeps the index current.
    pub(super) engine: Arc<Engine>,
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
    /// Searches answered.
    pub(super) queries: AtomicU64,
    /// The thread that owns the memories.
    pub(super) memories: Memories,
    /// The exchange with a team.
    pub(super) team: Team,
    /// What sessions of agents were told.
    pub(super) told: Told,
    /// What answers read from the disk.
    pub(super) disk_reads: RunningReads,
    /// Limits access to each file system, and the number of working threads.
    pub(super) gates: Gates,
}

impl Shared {
    pub(super) fn new(engine: Arc<Engine>, memories: Memories) -> Self {
        Self {
            told: Told::new(&engine.layout),
            // All daemons of a user spend from one budget.
            llm: LanguageModel::new(&engine.env.state_home().join("memod/llm")),
            gates: Gates::default(),
            disk_reads: RunningReads::default(),
            team: Team::default(),
            maps: KeptMaps::new(MOST_MAP_BYTES),
            surveys: KeptSurveys::default(),
            changes: KeptChanges::default(),
            definitions: KnownDefinitions::default(),
            chunks: KeptChunks::default(),
            rows: KeptRows::default(),
            texts: KnownTexts::default(),
            object_ids: KnownObjectIds::default(),
            queries: AtomicU64::new(0),
            memories,
            engine,
        }
    }

    /// Forgets names and paths that may have become secret.
    pub(super) fn forget_secrets(&self) {
        self.maps.retain(&[]);
        self.surveys.clear();
        self.changes.clear();
        self.definitions.clear();
        self.chunks.clear();
        self.rows.clear();
    }
}
