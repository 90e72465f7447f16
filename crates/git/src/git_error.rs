//! Defines the errors of reading git's files, with hints.

use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use memod_base::paths::{PathError, is_transient};

/// Why git's files cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The index is damaged or of an unknown format.
    #[error("git index {}: {reason}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// The error of the decoder.
        reason: String,
    },
    /// A configuration file does not parse; git itself refuses to run then.
    #[error("git configuration {}: {reason}", path.display())]
    Config {
        /// The configuration file.
        path: PathBuf,
        /// The error of the parser.
        reason: String,
    },
    /// A ref is damaged, or is stored in a form that cannot be read.
    #[error("git ref {name}: {reason}")]
    Ref {
        /// The name of the ref.
        name: String,
        /// The fault in the ref.
        reason: String,
    },
    /// An object is missing, because of damage or a shallow or partial clone.
    #[error("git object {id} is not in this repository")]
    Missing {
        /// The id of the object.
        id: ObjectId,
    },
    /// An object is damaged or of another type.
    #[error("git object {id}: {reason}")]
    Object {
        /// The id of the object.
        id: ObjectId,
        /// The fault in the object.
        reason: String,
    },
    /// Something else, such as a FIFO, is in the place of one of git's files. It is not opened, because opening it may block.
    #[error("git file {}: not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// One of git's files cannot be read.
    #[error(transparent)]
    Io(#[from] PathError),
}

impl GitError {
    /// Returns whether a retry may succeed, because nothing is known to be damaged.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Io(error) if error.is_transient())
    }

    /// Returns whether a file exists but could not be read, so that its content is unknown. A retry may succeed, perhaps only
    /// with a further permission.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Io(error)
            if error.is_transient() || error.source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns what the user can do about the error, if that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Index { .. } => Some("`git status` shows whether git can read the index"),
            Self::Config { .. } => Some("`git config --list` shows what is wrong with the file"),
            Self::Ref { .. } => Some("`git show-ref` lists the refs"),
            Self::Missing { .. } => Some(
                "run `git fetch --unshallow` in a shallow clone, `git fetch --refetch --no-filter` in a partial one",
            ),
            Self::Object { .. } => Some("`git fsck` shows what is damaged"),
            Self::NotAFile { .. } => {
                Some("remove that file, which makes git wait for ever; `git fsck` then shows what is missing")
            }
            Self::Io(error) => error.hint(),
        }
    }
}

/// Returns the error of the system that prevented gix from reading `path`, if it is transient or is a missing permission.
pub(crate) fn find_system_error(error: &gix::Error, path: &Path) -> Option<GitError> {
    let is_unread =
        |error: &&io::Error| is_transient(error) || error.kind() == io::ErrorKind::PermissionDenied;
    let source = error.downcast_any_ref::<io::Error>().filter(is_unread)?;
    Some(PathError { action: "read", path: path.to_owned(), source: clone_io_error(source) }.into())
}

/// Returns a copy of an error of the system.
pub(crate) fn clone_io_error(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)
}
