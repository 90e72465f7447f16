//! Lists and reads the files of a worktree.
//!
//! One rule, [`Admission`], for scanning, watching and answering; [`walk`] applies it to a tree and [`read`] gets the
//! bytes of what it admits. The rule is `git ls-files --cached --others --exclude-standard`, then `.memoignore`, then
//! the refusals, with these differences from git, all on purpose:
//!
//! - `.memo` at any depth, and git dirs or state dirs that lie inside the tree under another name than `.git`, are left out;
//! - another repository or worktree inside the tree, submodule or not, is one refusal and is not entered;
//! - names that are not UTF-8 are one refusal each, under their lossy name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::GitError;
use crate::paths::PathError;

mod admission;
mod read;
mod rules;
mod secret;
mod stat;
mod walk;

pub use admission::{Admission, Verdict};
pub use read::{Content, Read, ReadError, bytes, read, read_same};
pub use secret::is_secret_name;
use stat::FileKind;
pub use stat::{is_racy, lstat, shared_inode};
pub use walk::{Found, Visit, walk};

/// Name of the ignore file of ours in the root of a worktree; gitignore(5) syntax, applies to tracked files as well.
pub const MEMO_IGNORE: &str = ".memoignore";

/// Why a walk, or part of one, could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Git's own files could not be read; nothing can be said about any path.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The root of the worktree is gone or cannot be read.
    #[error(transparent)]
    Root(PathError),
    /// One directory could not be listed: nothing is known of what is below it, so nothing below it may be dropped.
    #[error(transparent)]
    Directory(PathError),
    /// An ignore file that holds for the whole worktree cannot be read now; nothing can be said about any path.
    #[error(transparent)]
    Rules(PathError),
}

impl ScanError {
    /// Returns whether another walk may do better, without any change on the disk.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Git(error) => error.is_transient(),
            Self::Root(error) | Self::Directory(error) | Self::Rules(error) => error.is_transient(),
        }
    }

    /// Returns what to do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Rules(error) | Self::Root(error) | Self::Directory(error) => error.hint(),
        }
    }
}

/// Bytes of a path relative to the root, with `/` between its parts.
type RelPath = gix::bstr::BStr;

/// Returns where `path` lies on the disk.
fn on_disk(root: &Path, path: &RelPath) -> PathBuf {
    if path.is_empty() {
        return root.to_owned();
    }
    #[cfg(unix)]
    return root.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path));
    #[cfg(not(unix))]
    root.join(path.to_string())
}

/// Returns the bytes of a name as git has them.
fn name_bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec();
    #[cfg(not(unix))]
    name.to_string_lossy().into_owned().into_bytes()
}

/// Reads a file only if it is a regular one; `follow` says whether through a final symlink.
///
/// Never blocks on a FIFO that was put in the file's place.
fn open_regular(path: &Path, follow: bool) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let no_follow = if follow { 0 } else { libc::O_NOFOLLOW };
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | no_follow);
    }
    #[cfg(not(unix))]
    if !follow && fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link"));
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}
