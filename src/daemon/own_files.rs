//! Finds out whether others still find this daemon.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use crate::paths::{Env, RepoLayout, if_readable};
use crate::scan::lstat;

/// Why a daemon ends that is not found any more: the next one serves better.
pub(super) const LOST: &str = "its state dir, its socket or its index is gone, or is looked for elsewhere";

/// The lock, the socket and index.db, by their inodes: a name that leads elsewhere is not ours.
pub(super) struct OwnFiles([(PathBuf, u64); 3]);

impl OwnFiles {
    /// Takes those that are there now as ours.
    pub(super) fn new(layout: &RepoLayout, socket: &Path, index_db: &Path) -> Self {
        let files = [layout.daemon_lock_file(), socket.to_owned(), index_db.to_owned()];
        Self(files.map(|path| (path.clone(), inode(&path).unwrap_or_default())))
    }

    /// Returns whether they are still where others look for them.
    pub(super) fn are_found(&self, ours: &RepoLayout, env: &Env) -> bool {
        let Self(files) = self;
        let now = RepoLayout::locate(&ours.root, env);
        let [.., (index_db, _)] = files;
        files.iter().all(|(path, held)| inode(path).is_none_or(|inode| inode == *held))
            && if_readable(lstat(index_db)).map_or(true, |stat| stat.is_some_and(|stat| stat.size > 0))
            && !now.is_ok_and(|now| now.id == ours.id && now.state_dir != ours.state_dir)
    }
}

/// Looks whenever it is asked to, until nobody can ask any more or they are not found.
pub(super) fn look(asked: &Receiver<()>, is_found: impl Fn() -> bool, is_lost: impl FnOnce()) {
    while asked.recv().is_ok() {
        while asked.try_recv().is_ok() {} // one look serves all of them
        if !is_found() {
            return is_lost();
        }
    }
}

/// Returns the inode of a path, 0 where nothing is; none when that cannot be told now.
fn inode(path: &Path) -> Option<u64> {
    if_readable(lstat(path)).map(|stat| stat.map_or(0, |stat| stat.inode)).ok()
}
