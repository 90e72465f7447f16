//! Reads git repositories, with gix and never by running git.
//!
//! Built from gix's parts (index, ignore patterns, configuration, objects), not from a `gix::Repository`: so a batch of
//! events costs one read of the index, the `GIT_*` variables of a hook cannot redirect anything, and no setting is
//! ever looked at that could start a process (fsmonitor, filters, textconv, aliases).
//!
//! Invariant: nothing here writes, takes one of git's locks, or starts a process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::prelude::FindExt as _;

use crate::paths::{IoContext as _, PathError, RepoLayout, if_readable, is_transient};

mod author;
mod blame;
mod changes;
mod hook_settings;
mod line_map;
mod log;
mod nested;
mod objects;
mod patterns;
mod refs;
mod rename;
mod revision;
mod settings;
mod tracked;
mod user_rules;
mod walk;

pub use author::author;
pub use blame::Blame;
pub use changes::{Changes, PathChange};
pub use gix::ObjectId;
pub use gix::hash::Kind as ObjectHash;
pub use hook_settings::{HookSettings, NamedHook};
pub use line_map::{ALIKE, likeness};
pub use log::{Log, Touch};
pub use nested::is_repository;
pub use objects::{Commit, Node, Objects, TreeEntry};
pub use patterns::Patterns;
pub use refs::{Refs, Tip};
pub use revision::RevisionError;
pub use settings::{Settings, UserDirs};
pub use tracked::{Tracked, TrackedAs};
pub use user_rules::UserRules;
pub use walk::Walk;

/// What of git's could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The index is damaged or of an unknown format.
    #[error("git index {}: {reason}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// What the decoder said.
        reason: String,
    },
    /// A configuration file does not parse; git itself refuses to run then.
    #[error("git configuration {}: {reason}", path.display())]
    Config {
        /// The configuration file.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
    /// A ref that is damaged or kept where it cannot be read.
    #[error("git ref {name}: {reason}")]
    Ref {
        /// As asked for.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An object that is not here: damage, or a shallow or partial clone.
    #[error("git object {id} is not in this repository")]
    Missing {
        /// Which one.
        id: ObjectId,
    },
    /// An object that is damaged or of another type.
    #[error("git object {id}: {reason}")]
    Object {
        /// Which one.
        id: ObjectId,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of git's cannot be read.
    #[error(transparent)]
    Io(#[from] PathError),
}

impl GitError {
    /// Returns whether it may be read another time: nothing is damaged, as far as is known.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Io(error) if error.is_transient())
    }

    /// Returns what to do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Index { .. } => Some("`git status` says whether git can read it"),
            Self::Config { .. } => Some("`git config --list` says what is wrong with it"),
            Self::Ref { .. } => Some("`git show-ref` lists the refs"),
            Self::Missing { .. } => {
                Some("a shallow or partial clone lacks it: `git fetch --unshallow` or `git fetch --refetch`")
            }
            Self::Object { .. } => Some("`git fsck` tells what is damaged"),
            Self::Io(error) => error.hint(),
        }
    }
}

/// Returns the error of the system that kept gix from reading `path` this time, if there was one.
fn interrupted(error: &gix::Error, path: &Path) -> Option<GitError> {
    let source = error.downcast_any_ref::<io::Error>().filter(|error| is_transient(error))?;
    let source = source.raw_os_error().map_or(source.kind().into(), io::Error::from_raw_os_error);
    Some(PathError { action: "read", path: path.to_owned(), source }.into())
}

/// What the file `HEAD` names where refs are kept in a reftable, see gitrepository-layout(5).
const IN_REFTABLE: &str = "refs/heads/.invalid";

/// Returns what `HEAD` of the worktree holds: a full branch name (born or not) or an object id; none outside git, or
/// where it is kept in a reftable.
pub fn head(layout: &RepoLayout) -> Option<String> {
    let text = fs::read_to_string(layout.git_dir.as_ref()?.join("HEAD")).ok()?;
    let text = text.trim();
    let head = text.strip_prefix("ref:").map_or(text, str::trim_start);
    (!head.is_empty() && head != IN_REFTABLE).then(|| head.to_owned())
}

/// Returns the ignore files outside the worktree, existing or not: the user's global one and `info/exclude`.
///
/// A change of one of them can change which files count.
pub fn excludes_files(layout: &RepoLayout, settings: &Settings) -> Vec<PathBuf> {
    let Some(common_dir) = &layout.common_dir else {
        return Vec::new();
    };
    settings.excludes_file.iter().cloned().chain([common_dir.join("info/exclude")]).collect()
}

/// Returns the id that git gives to a file of these bytes, filters apart.
pub fn blob_id(object_hash: ObjectHash, bytes: &[u8]) -> ObjectId {
    let id = gix::objs::compute_hash(object_hash, gix::objs::Kind::Blob, bytes);
    // An attack on SHA-1 was met: no object of git's has that content.
    id.unwrap_or_else(|_| ObjectId::null(object_hash))
}

/// Returns the bytes of a blob; none when it is not there, as in a partial clone, which is never asked for more.
///
/// # Errors
/// When it cannot be read now.
pub fn read_blob(
    objects: &Path,
    object_hash: ObjectHash,
    id: &gix::oid,
) -> Result<Option<Vec<u8>>, GitError> {
    let Some(odb) = if_readable(gix::odb::at(objects, object_hash)).at("read", objects)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    match odb.find_blob(id, &mut bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => interrupted(&error, objects).map_or(Ok(None), Err),
    }
}
