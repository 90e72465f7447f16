//! Keeps which directories of memories are watched.

use std::collections::HashMap;
use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_base::types::{Stat, ViewId};

use memod_memory::file;

/// The directories of memories that are watched, by git dir of their worktrees.
#[derive(Default)]
pub(super) struct WatchedFiles(HashMap<String, WatchedDir>);

struct WatchedDir {
    view: ViewId,
    layout: RepoLayout,
    /// Device and inode; `None` where no directory is watched.
    identity: Option<(u64, u64)>,
}

impl WatchedFiles {
    /// Returns whether a directory is watched, or cannot be.
    pub(super) fn has(&self, key: &str, layout: &RepoLayout, dir: &Stat) -> bool {
        let is_same = |of: &WatchedDir| of.layout == *layout && of.identity == Some(identity(dir));
        self.0.get(key).is_some_and(is_same)
    }

    /// Records that the directory of a worktree is watched from now on, or that there is none. Returns the view to watch it as, or `None`
    /// if nothing has changed.
    pub(super) fn set(&mut self, key: &str, layout: &RepoLayout, dir: Option<&Stat>) -> Option<ViewId> {
        let next = ViewId(-1 - i64::try_from(self.0.len()).expect("there are not so many worktrees")); // no view of the index
        let new = WatchedDir { view: next, layout: layout.clone(), identity: dir.map(identity) };
        let Some(known) = self.0.get_mut(key) else {
            self.0.insert(key.to_owned(), new);
            return dir.map(|_| next);
        };
        let view = known.view;
        let is_same = (&known.layout, known.identity) == (&new.layout, new.identity);
        *known = WatchedDir { view, ..new };
        (!is_same).then_some(view)
    }

    /// Returns the worktree of a view in whose directory a path was changed. The directory itself may be gone then.
    pub(super) fn of_change(&mut self, view: ViewId, changed: &Path) -> Option<RepoLayout> {
        let known = self.0.values_mut().find(|known| known.view == view)?;
        if changed == known.layout.root.join(file::DIR) {
            known.identity = None;
        }
        Some(known.layout.clone())
    }

    /// Returns the worktrees whose directories are watched.
    pub(super) fn layouts(&self) -> Vec<RepoLayout> {
        self.0.values().filter(|known| known.identity.is_some()).map(|known| known.layout.clone()).collect()
    }
}

fn identity(dir: &Stat) -> (u64, u64) {
    (dir.dev, dir.inode)
}
