//! Declares the notifications that the engine sends to the parts of the daemon that have their own data about worktrees.

use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_index_db::ManifestChange;

/// Receives notifications of the engine. The methods are called on the engine's threads, and must not wait.
pub trait EngineObserver: Send + Sync {
    /// Something has changed in the directory of memory files of a worktree.
    fn memory_files_saved(&self, layout: &RepoLayout);

    /// The path `changed` has changed in a directory of memory files that is watched separately, under the id `worktree`.
    fn watched_memories_changed(&self, worktree: WorktreeId, changed: &Path);

    /// Events were lost, so that any directory of memory files may have changed.
    fn events_lost(&self);

    /// Changes of a worktree were written to the index; `seq` is the new sequence number of the worktree.
    fn changes_written(&self, worktree: WorktreeId, seq: u64, changes: &[ManifestChange]);

    /// A secret was removed from the index; cached names and paths may still show it.
    fn secrets_purged(&self);

    /// The chosen model was loaded and works.
    fn chosen_model_usable(&self);
}
