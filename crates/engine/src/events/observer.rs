//! Declares the notifications of the engine to parts of the daemon with data of their own about worktrees.

use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_index_db::ManifestChange;

/// Receives notifications of the engine. It is called on the engine's threads, and must not wait.
pub trait EngineObserver: Send + Sync {
    /// Something was saved in the directory of memories of a worktree.
    fn memory_files_saved(&self, layout: &RepoLayout);

    /// Something has changed in a directory of memories that is watched for itself, under this id.
    fn watched_memories_changed(&self, worktree: WorktreeId, changed: &Path);

    /// Events were lost, so that any directory of memories may have changed.
    fn events_lost(&self);

    /// Changes of a worktree are written, and this is its sequence number now.
    fn changes_written(&self, worktree: WorktreeId, seq: u64, changes: &[ManifestChange]);

    /// A secret is gone from the index; cached names and paths may still have it.
    fn secrets_purged(&self);

    /// The model that was chosen works.
    fn chosen_model_usable(&self);
}
