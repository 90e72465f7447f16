//! Identifies the repository that owns a state dir outside of that repository.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file in such a state dir that names the owner.
pub(super) const OWNER_FILE: &str = "repository";

/// The repository that owns a state dir.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StateOwner {
    /// Common dir of the repository, or the top directory outside git.
    pub(super) path: PathBuf,
    /// Identity of the directory at `path`, which a move does not change; `None` if the file system has no creation times.
    pub(super) identity: Option<DirIdentity>,
}

/// Identity of a directory. A later directory may reuse the inode, but not with the same creation time in nanoseconds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DirIdentity {
    inode: u64,
    born_ns: u128,
}

/// Returns whether a state dir belongs to another repository than `top`, one that was at this path before.
pub(super) fn belongs_to_other_repository(state_dir: &Path, top: &Path) -> bool {
    let theirs = read_state_owner(state_dir).and_then(|owner| owner.identity);
    theirs.is_some_and(|theirs| dir_identity(top).is_some_and(|ours| ours != theirs))
}

/// Returns the identity of a directory as text for a file name; `None` if the file system has no creation times.
pub(super) fn dir_identity_text(top: &Path) -> Option<String> {
    dir_identity(top).map(|DirIdentity { inode, born_ns }| format!("{inode:x}-{born_ns:x}"))
}

/// Returns the owner that a state dir names; `None` if it names none.
pub(super) fn read_state_owner(state_dir: &Path) -> Option<StateOwner> {
    serde_json::from_slice(&fs::read(state_dir.join(OWNER_FILE)).ok()?).ok()
}

/// Returns the identity of a directory; `None` if the file system has no creation times.
pub(super) fn dir_identity(dir: &Path) -> Option<DirIdentity> {
    let born = fs::metadata(dir).ok()?.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let (_, inode) = super::file_identity(dir)?;
    Some(DirIdentity { inode, born_ns: born.as_nanos() })
}
