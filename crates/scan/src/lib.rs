//! Lists and reads the files of a worktree.
//!
//! [`AdmissionRules`] holds the rules for scanning, watching and answering; [`walk`] applies them to a tree, and [`read`] reads
//! admitted files. The rules are those of `git ls-files --cached --others --exclude-standard`, then `.memoignore`, then
//! the refusals, with these intended differences from git:
//!
//! - `.memo` at any depth, and git dirs or state dirs inside the tree with another name than `.git`, are left out;
//! - another repository or worktree inside the tree, submodule or not, is one refusal and is not entered;
//! - names that are not UTF-8 are one refusal each, under their lossy name.

use std::path::{Path, PathBuf};

use memod_base::paths::PathError;
use memod_git::GitError;

mod admission;
mod read;
mod rules;
mod stat;
mod walk;

pub use admission::{AdmissionRules, Verdict};
pub use read::{Content, FileSnapshot, ReadError, read, read_bytes, read_if_hash_matches};
use stat::FileKind;
pub use stat::{is_racy, lstat, shared_inode};
pub use walk::{ListedFile, Visit, walk};

/// Name of memo's own ignore file in the root of a worktree, in gitignore(5) syntax; its patterns apply to tracked files too.
pub const MEMO_IGNORE: &str = ".memoignore";

/// Why a walk, or part of it, failed.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Git's files could not be read, so no decision about any path is possible.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The root of the worktree is gone or cannot be read.
    #[error(transparent)]
    Root(PathError),
    /// One directory could not be listed. The state below it is unknown, so no entry there may be removed.
    #[error(transparent)]
    Directory(PathError),
    /// An ignore file for the whole worktree cannot be read at the moment, so no decision about any path is possible.
    #[error(transparent)]
    Rules(PathError),
}

impl ScanError {
    /// Returns whether another walk may succeed without any change on disk.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Git(error) => error.is_transient(),
            Self::Root(error) | Self::Directory(error) | Self::Rules(error) => error.is_transient(),
        }
    }

    /// Returns the remedy, if it is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Rules(error) | Self::Root(error) | Self::Directory(error) => error.hint(),
        }
    }
}

/// Bytes of a path relative to the root, with `/` between its parts.
type RelPath = gix::bstr::BStr;

/// Returns the absolute path of `path`, which is relative to `root`.
fn path_on_disk(root: &Path, path: &RelPath) -> PathBuf {
    if path.is_empty() {
        return root.to_owned();
    }
    #[cfg(unix)]
    return root.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path));
    #[cfg(not(unix))]
    root.join(path.to_string())
}

/// Returns the bytes of a name or a relative path, as git stores them.
fn name_bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    #[cfg(target_os = "macos")]
    if let Some(name) = name.to_str() {
        return memod_base::paths::composed_name(name).into_owned().into_bytes();
    }
    #[cfg(unix)]
    return std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec();
    #[cfg(not(unix))]
    name.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/").into_bytes()
}
