//! Checks whether clients can still find the files of this daemon: its lock, its socket and index.db.
//!
//! `index_file` opens index.db or replaces a damaged one, and [`index_repair`] records such a replacement.

pub(crate) mod index_file;
pub mod index_repair;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use memod_base::paths::{Env, RepoLayout, none_if_unreadable};
use memod_base::threads::catch_panic;
use memod_scan::lstat;

/// Reason for the exit of a daemon that clients cannot find any more.
pub const FILES_LOST_REASON: &str =
    "the daemon's state dir, socket or index is gone, or clients look for the daemon elsewhere";

/// Lock, socket and index.db of this daemon, identified by inode: another file under the same name is not its own.
pub(crate) struct OwnFiles([(PathBuf, u64); 3]);

impl OwnFiles {
    /// Records the inodes of the daemon's lock, socket and index.db.
    pub(crate) fn new(layout: &RepoLayout, socket: &Path, index_db: &Path) -> Self {
        let files = [layout.daemon_lock_file(), socket.to_owned(), index_db.to_owned()];
        Self(files.map(|path| (path.clone(), current_inode(&path).unwrap_or_default())))
    }

    /// Returns whether clients still find these files.
    pub(crate) fn are_found(&self, ours: &RepoLayout, env: &Env) -> bool {
        let Self(files) = self;
        let now = RepoLayout::locate(&ours.root, env);
        let [.., (index_db, _)] = files;
        files.iter().all(|(path, held)| current_inode(path).is_none_or(|inode| inode == *held))
            && none_if_unreadable(lstat(index_db)).map_or(true, |stat| stat.is_some_and(|stat| stat.size > 0))
            && !now.is_ok_and(|now| now.id == ours.id && now.state_dir != ours.state_dir)
    }
}

/// Calls `is_found` on each request, until the channel closes or the result is false; then calls `is_lost`.
pub(crate) fn run_own_files_checks(
    requests: &Receiver<()>,
    is_found: impl Fn() -> bool,
    is_lost: impl FnOnce(),
) {
    while requests.recv().is_ok() {
        while requests.try_recv().is_ok() {} // one check serves all queued requests
        // A check that panics does not prove that the files are gone, and later requests check again.
        if !catch_panic(&is_found).unwrap_or(true) {
            return is_lost();
        }
    }
}

/// Returns the inode of a path, 0 if nothing is there; `None` if it cannot be examined now.
fn current_inode(path: &Path) -> Option<u64> {
    none_if_unreadable(lstat(path)).map(|stat| stat.map_or(0, |stat| stat.inode)).ok()
}
