//! Finds the key, the root and the creation time of a worktree.

use std::io;
use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_scan::lstat;

/// Returns the key of a worktree: its git dir relative to the common dir, so that the key stays when the repository is moved. The
/// key of the main worktree is empty.
pub(in crate::daemon::memories) fn worktree_key(layout: &RepoLayout) -> String {
    let (Some(git_dir), Some(common_dir)) = (&layout.git_dir, &layout.common_dir) else {
        return String::new();
    };
    git_dir.strip_prefix(common_dir).unwrap_or(git_dir).to_string_lossy().into_owned()
}

/// Returns the root of a linked worktree, and when its git dir was created, ns since the epoch; `None` for the main worktree.
pub(in crate::daemon::memories) fn read_root_and_creation_time(layout: &RepoLayout) -> Option<(String, i64)> {
    let git_dir = layout.git_dir.as_ref().filter(|_| !worktree_key(layout).is_empty())?;
    Some((layout.root.to_string_lossy().into_owned(), read_time_made(git_dir).ok()?))
}

/// Returns when the git dir of a linked worktree was created, ns since the epoch. That is the time of the file `commondir`, which
/// git writes only once.
///
/// # Errors
/// When the file is missing or cannot be read.
pub(in crate::daemon::memories) fn read_time_made(git_dir: &Path) -> io::Result<i64> {
    Ok(lstat(&git_dir.join("commondir"))?.mtime_ns)
}
