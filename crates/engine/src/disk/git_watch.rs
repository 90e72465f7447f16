//! Watches the directories in which git keeps its files about a worktree.

use std::path::{Path, PathBuf};

use memod_base::paths::{RepoLayout, may_be_dir};
use memod_base::types::WorktreeId;
use memod_watch::{Role, WatchError};

use crate::engine::Engine;
use crate::errors::line_with_hint;

/// Directories in which git keeps HEAD, index, settings and exclude_files.
pub(super) struct GitDirs<'a> {
    pub(super) layout: &'a RepoLayout,
    pub(super) exclude_files: &'a [PathBuf],
}

impl GitDirs<'_> {
    fn existing_dirs(&self) -> impl Iterator<Item = PathBuf> {
        let common = self.layout.common_dir.clone();
        let exclude_files = self.exclude_files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let dirs = self.layout.git_dir.clone().into_iter().chain(common).chain(exclude_files);
        dirs.filter(|dir| may_be_dir(dir))
    }
}

/// Watches the directories of git's files, of the daemon's socket and of the cookies.
///
/// # Errors
/// Why one of these directories cannot be watched, with the remedy; the worktree is polled then.
pub(super) fn watch_git_and_cookie_dirs(
    engine: &Engine,
    worktree: WorktreeId,
    dirs: &GitDirs<'_>,
) -> Result<(), String> {
    // Watching the directory of the socket shows when the socket is removed.
    let socket_dir = engine.socket.parent().filter(|_| cfg!(unix)).map(Path::to_owned);
    let git = dirs.existing_dirs().chain(socket_dir).map(|dir| (Role::Git, dir));
    let mut all = git.chain([(Role::Cookies, dirs.layout.cookie_dir())]);
    let watched = all.try_for_each(|(role, dir)| engine.watch.add_dir(worktree, role, &dir));
    watched.map_err(|error| unwatched_message(&error))
}

/// Returns why a directory is not watched, the remedy, and the fallback until then, in one line.
pub(crate) fn unwatched_message(error: &WatchError) -> String {
    format!(
        "{}; until then every query compares the worktree with the index",
        line_with_hint(error, error.hint())
    )
}
