//! Tracks which directories of memories are watched.

use std::collections::HashMap;
use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::types::{Stat, WorktreeId};

use memod_memory::file;

/// The directories of memories that are watched, by git dir of their worktrees.
#[derive(Default)]
pub(in crate::daemon) struct WatchedMemoryDirs(HashMap<String, WatchedDir>);

/// The directory of memories in one worktree.
struct WatchedDir {
    worktree: WorktreeId,
    layout: RepoLayout,
    /// Device and inode of the directory; `None` if no directory is watched.
    identity: Option<(u64, u64)>,
}

impl WatchedMemoryDirs {
    /// Returns whether this directory of a worktree is watched already, or an attempt to watch it has failed.
    pub(in crate::daemon) fn is_watched(&self, key: &str, layout: &RepoLayout, dir: &Stat) -> bool {
        self.0
            .get(key)
            .is_some_and(|known| known.layout == *layout && known.identity == Some(dir_identity(dir)))
    }

    /// Records the directory of a worktree that is to be watched, or that there is none. Returns the id under which to watch it, or
    /// `None` if nothing has changed.
    pub(in crate::daemon) fn set_directory(
        &mut self,
        key: &str,
        layout: &RepoLayout,
        dir: Option<&Stat>,
    ) -> Option<WorktreeId> {
        // The id is negative, unlike the ids of worktrees in the index.
        let next = WorktreeId(-1 - i64::try_from(self.0.len()).expect("there are not so many worktrees"));
        let new = WatchedDir { worktree: next, layout: layout.clone(), identity: dir.map(dir_identity) };
        let Some(known) = self.0.get_mut(key) else {
            self.0.insert(key.to_owned(), new);
            return dir.map(|_| next);
        };
        let view = known.worktree;
        let is_same = (&known.layout, known.identity) == (&new.layout, new.identity);
        *known = WatchedDir { worktree: view, ..new };
        (!is_same).then_some(view)
    }

    /// Returns the worktree in whose directory a path has changed. If the path is the directory itself, the directory counts as
    /// unwatched from now on.
    pub(in crate::daemon) fn find_changed_worktree(
        &mut self,
        view: WorktreeId,
        changed: &Path,
    ) -> Option<RepoLayout> {
        let known = self.0.values_mut().find(|known| known.worktree == view)?;
        if changed == known.layout.root.join(file::DIR) {
            known.identity = None;
        }
        Some(known.layout.clone())
    }

    /// Returns the worktrees whose directories are watched.
    pub(in crate::daemon) fn watched_layouts(&self) -> Vec<RepoLayout> {
        self.0.values().filter(|known| known.identity.is_some()).map(|known| known.layout.clone()).collect()
    }
}

fn dir_identity(dir: &Stat) -> (u64, u64) {
    (dir.dev, dir.inode)
}
