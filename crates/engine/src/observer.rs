//! Declares what the engine tells those who keep something of their own about worktrees.

use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::types::ViewId;
use memod_index_db::Change;

/// Hears of what the engine finds. It is called on the engine's threads, and must not wait.
pub trait EngineObserver: Send + Sync {
    /// Something was saved in the directory of memories of a worktree.
    fn memory_files_saved(&self, layout: &RepoLayout);

    /// Something has changed in a directory of memories that is watched for itself, as this view.
    fn watched_memories_changed(&self, view: ViewId, changed: &Path);

    /// Events were lost, so that any directory of memories may have changed.
    fn events_lost(&self);

    /// Changes of a view are written, and this is its sequence number now.
    fn changes_written(&self, view: ViewId, seq: u64, changes: &[Change]);

    /// A secret is gone from the index; kept names and paths may still have it.
    fn secrets_purged(&self);

    /// The model that was chosen works.
    fn chosen_model_usable(&self);
}
