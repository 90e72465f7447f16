//! Passes events of the engine on to the caches of worktrees and to the memories.

use std::path::Path;
use std::sync::{Arc, Weak};

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_engine::EngineObserver;
use memod_index_db::ManifestChange;

use crate::daemon::memories::worktree_files::take_edits::{
    start_storing_all_edits, start_storing_edits, start_storing_edits_in_dir,
};
use crate::daemon::shared::Shared;

/// The observer of the engine's events. Holds [`Shared`] weakly, because [`Shared`] holds the engine.
pub(super) struct WeakSharedObserver(pub(super) Weak<Shared>);

impl WeakSharedObserver {
    fn with_shared(&self, what: impl FnOnce(&Arc<Shared>)) {
        if let Some(shared) = self.0.upgrade() {
            what(&shared);
        }
    }
}

impl EngineObserver for WeakSharedObserver {
    fn memory_files_saved(&self, layout: &RepoLayout) {
        self.with_shared(|shared| start_storing_edits(shared, layout));
    }

    fn watched_memories_changed(&self, view: WorktreeId, changed: &Path) {
        self.with_shared(|shared| start_storing_edits_in_dir(shared, view, changed));
    }

    fn events_lost(&self) {
        self.with_shared(start_storing_all_edits);
    }

    fn changes_written(&self, view: WorktreeId, seq: u64, changes: &[ManifestChange]) {
        self.with_shared(|shared| shared.chunks.note_changes(view, seq, changes));
    }

    fn secrets_purged(&self) {
        self.with_shared(|shared| shared.forget_secrets());
    }

    fn chosen_model_usable(&self) {
        self.with_shared(|shared| shared.memories.check_chosen_model());
    }
}
