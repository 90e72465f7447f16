//! Hands what the engine finds to those who keep something of worktrees.

use std::path::Path;
use std::sync::{Arc, Weak};

use memod_base::paths::RepoLayout;
use memod_base::types::ViewId;
use memod_engine::EngineObserver;
use memod_index_db::Change;

use crate::daemon::memories::file_edits::{take_all, take_change, take_edits};
use crate::daemon::shared::Shared;

/// Holds [`Shared`] weakly, because that holds the engine.
pub(super) struct SharedObserver(pub(super) Weak<Shared>);

impl SharedObserver {
    fn tell(&self, what: impl FnOnce(&Arc<Shared>)) {
        if let Some(shared) = self.0.upgrade() {
            what(&shared);
        }
    }
}

impl EngineObserver for SharedObserver {
    fn memory_files_saved(&self, layout: &RepoLayout) {
        self.tell(|shared| take_edits(shared, layout));
    }

    fn watched_memories_changed(&self, view: ViewId, changed: &Path) {
        self.tell(|shared| take_change(shared, view, changed));
    }

    fn events_lost(&self) {
        self.tell(take_all);
    }

    fn changes_written(&self, view: ViewId, seq: u64, changes: &[Change]) {
        self.tell(|shared| shared.chunks.note(view, seq, changes));
    }

    fn secrets_purged(&self) {
        self.tell(|shared| shared.forget_secrets());
    }

    fn chosen_model_usable(&self) {
        self.tell(|shared| shared.memories.note_choice());
    }
}
