//! Reads git repositories, with gix and never by running git.
//!
//! It uses gix's parts (index, ignore patterns, configuration, objects) instead of a `gix::Repository`. So a batch of
//! events costs one read of the index, the `GIT_*` variables of a hook have no effect, and settings that could start a
//! process (fsmonitor, filters, textconv, aliases) are never read.
//!
//! Invariant: nothing here writes, takes one of git's locks, or starts a process.

use std::io;
use std::path::{Path, PathBuf};

use gix::prelude::FindExt as _;
use memod_base::paths::{PathError, RepoLayout, is_transient, read_regular};

mod attributes;
mod blame;
mod changes;
mod encodings;
mod hook_settings;
mod identity;
mod line_map;
mod log;
mod moved;
mod nested;
mod objects;
mod patterns;
mod range;
mod refs;
mod rename;
mod replies;
mod revision;
mod settings;
mod special;
mod tracked;
mod user_rules;
mod walk;

pub use attributes::{AttributeFile, Attributes, Conversion, OutsideAttributes, is_lfs_pointer_to};
pub use blame::{Blame, LineMove};
pub use changes::{Changes, PathChange};
pub use gix::ObjectId;
pub use gix::hash::Kind as ObjectHash;
pub use gix::objs::tree::EntryKind;
pub use hook_settings::{HookSettings, NamedHook};
pub use identity::{Identity, identity};
pub use line_map::{ALIKE, likeness};
pub use log::{Log, PathTouch};
pub use nested::is_repository;
pub use objects::{Commit, Node, Objects, TreeEntry};
pub use patterns::Patterns;
pub use range::Range;
pub use refs::{Refs, Tip};
pub use revision::RevisionError;
pub use settings::{Settings, UserDirs};
pub use tracked::{Tracked, TrackedAs};
pub use user_rules::UserRules;
pub use walk::Walk;

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
    /// A ref is damaged, or stored where it cannot be read.
    #[error("git ref {name}: {reason}")]
    Ref {
        /// The name.
        name: String,
        /// The problem with it.
        reason: String,
    },
    /// An object is missing, because of damage or a shallow or partial clone.
    #[error("git object {id} is not in this repository")]
    Missing {
        /// Which one.
        id: ObjectId,
    },
    /// An object is damaged or of another type.
    #[error("git object {id}: {reason}")]
    Object {
        /// Which one.
        id: ObjectId,
        /// The problem with it.
        reason: String,
    },
    /// Something else is in the place of one of git's files, such as a FIFO. It is not opened, because that may block.
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

    /// Returns whether a file exists and could not be read, so that its content is unknown; a retry may succeed, or needs a
    /// permission first.
    pub fn is_unread(&self) -> bool {
        matches!(self, Self::Io(error)
            if error.is_transient() || error.source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns the remedy, if it is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Index { .. } => Some("`git status` says whether git can read it"),
            Self::Config { .. } => Some("`git config --list` says what is wrong with it"),
            Self::Ref { .. } => Some("`git show-ref` lists the refs"),
            Self::Missing { .. } => {
                Some("a shallow or partial clone lacks it: `git fetch --unshallow` or `git fetch --refetch`")
            }
            Self::Object { .. } => Some("`git fsck` shows what is damaged"),
            Self::NotAFile { .. } => {
                Some("git would wait there for ever; remove it, then `git fsck` says what is missing")
            }
            Self::Io(error) => error.hint(),
        }
    }
}

/// Returns the error of the system that prevented gix from reading `path`, if it is transient or a permission is missing.
fn find_system_error(error: &gix::Error, path: &Path) -> Option<GitError> {
    let is_unread =
        |error: &&io::Error| is_transient(error) || error.kind() == io::ErrorKind::PermissionDenied;
    let source = error.downcast_any_ref::<io::Error>().filter(is_unread)?;
    Some(PathError { action: "read", path: path.to_owned(), source: copy_of(source) }.into())
}

/// Returns the same error of the system.
fn copy_of(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or(error.kind().into(), io::Error::from_raw_os_error)
}

/// The target in the file `HEAD` if refs are stored in a reftable, see gitrepository-layout(5).
const IN_REFTABLE: &str = "refs/heads/.invalid";

/// Returns the content of the worktree's `HEAD`: a full branch name (born or not) or an object id. `None` outside git and
/// with a reftable.
pub fn read_head(layout: &RepoLayout) -> Option<String> {
    let text = read_regular(&layout.git_dir.as_ref()?.join("HEAD")).ok()?;
    let text = std::str::from_utf8(&text).ok()?.trim();
    let head = text.strip_prefix("ref:").map_or(text, str::trim_start);
    (!head.is_empty() && head != IN_REFTABLE).then(|| head.to_owned())
}

/// Returns the ignore files outside the worktree, existing or not: the user's global one and `info/exclude`.
///
/// A change of one of them can change the set of indexed files.
pub fn excludes_files(layout: &RepoLayout, settings: &Settings) -> Vec<PathBuf> {
    let Some(common_dir) = &layout.common_dir else {
        return Vec::new();
    };
    settings.excludes_file.iter().cloned().chain([common_dir.join("info/exclude")]).collect()
}

/// Returns the id that git gives to a file with these bytes, without filters.
pub fn blob_id(object_hash: ObjectHash, bytes: &[u8]) -> ObjectId {
    let id = gix::objs::compute_hash(object_hash, gix::objs::Kind::Blob, bytes);
    // The bytes are an attack on SHA-1; no object of git has such content.
    id.unwrap_or_else(|_| ObjectId::null(object_hash))
}

/// Returns the bytes of a blob; `None` if it is absent, as in a partial clone, which never fetches anything.
///
/// # Errors
/// When it cannot be read at the moment.
pub fn read_blob(
    objects: &Path,
    object_hash: ObjectHash,
    id: &gix::oid,
) -> Result<Option<Vec<u8>>, GitError> {
    let Some((odb, dirs)) = special::open_objects(objects, object_hash)? else { return Ok(None) };
    dirs.refuse_special(id)?;
    let mut bytes = Vec::new();
    match odb.find_blob(id, &mut bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => find_system_error(&error, objects).map_or(Ok(None), Err),
    }
}
