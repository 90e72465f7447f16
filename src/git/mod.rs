//! What does git say of a worktree? (gix only)
//!
//! Built from gix's parts (index, ignore patterns, configuration, objects), not from a `gix::Repository`: so a batch of
//! events costs one read of the index, the `GIT_*` variables of a hook cannot redirect anything, and no setting is
//! ever looked at that could start a process (fsmonitor, filters, textconv, aliases).
//!
//! Invariant: nothing here writes, takes one of git's locks, or starts a process.

use std::fs;
use std::path::{Path, PathBuf};

use gix::prelude::FindExt as _;

use crate::paths::{PathError, Place};

mod nested;
mod patterns;
mod settings;
mod tracked;
mod user_rules;

pub use nested::is_repository;
pub use patterns::Patterns;
pub use settings::{Settings, UserDirs};
pub use tracked::{Tracked, TrackedAs};
pub use user_rules::UserRules;

/// At most this many directories below `refs/` are watched; more come from machines, not people.
const MAX_REF_DIRS: usize = 512;

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
    /// A file of git's cannot be read.
    #[error(transparent)]
    Io(#[from] PathError),
}

/// Returns what `HEAD` of the worktree holds: a full branch name (born or not) or an object id; none outside git.
pub fn head(place: &Place) -> Option<String> {
    let text = fs::read_to_string(place.git_dir.as_ref()?.join("HEAD")).ok()?;
    let text = text.trim();
    let head = text.strip_prefix("ref:").map_or(text, str::trim_start);
    (!head.is_empty()).then(|| head.to_owned())
}

/// Returns the directories of git's to watch, each by itself and not recursively: those that exist of the git dir,
/// the common dir, and in the latter `refs` with what is below, `info`, `worktrees` and each of those.
///
/// `objects` is never among them: every commit writes there, and it says nothing that the refs do not.
pub fn watch_paths(place: &Place) -> Vec<PathBuf> {
    let (Some(git_dir), Some(common_dir)) = (&place.git_dir, &place.common_dir) else {
        return Vec::new();
    };
    let mut paths = vec![git_dir.clone(), common_dir.clone(), common_dir.join("info")];
    let worktrees = common_dir.join("worktrees");
    paths.extend(subdirectories(&worktrees));
    paths.push(worktrees);
    paths.extend(below(common_dir.join("refs")));
    paths.retain(|path| is_directory(path));
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the ignore files outside the worktree, existing or not: the user's global one and `info/exclude`.
///
/// A change of one of them can change which files count.
pub fn excludes_files(place: &Place, dirs: &UserDirs) -> Vec<PathBuf> {
    let Some(common_dir) = &place.common_dir else {
        return Vec::new();
    };
    let settings = Settings::read(place, dirs).unwrap_or_else(|_| Settings::fallback(dirs));
    settings.excludes_file.into_iter().chain([common_dir.join("info/exclude")]).collect()
}

/// Returns whether some git process is about to replace the index of this worktree.
pub fn index_locked(place: &Place) -> bool {
    place.git_dir.as_ref().is_some_and(|dir| fs::symlink_metadata(dir.join("index.lock")).is_ok())
}

/// Returns the bytes of a blob; none when it is not there, as in a partial clone, which is never asked for more.
pub fn read_blob(objects: &Path, object_hash: gix::hash::Kind, id: &gix::oid) -> Option<Vec<u8>> {
    let objects = gix::odb::at(objects, object_hash).ok()?;
    let mut bytes = Vec::new();
    objects.find_blob(id, &mut bytes).ok()?;
    Some(bytes)
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Returns `top` and the directories below it, breadth first, bounded.
fn below(top: PathBuf) -> Vec<PathBuf> {
    let mut found = vec![top];
    let mut next = 0;
    while next < found.len() && found.len() < MAX_REF_DIRS {
        let deeper = subdirectories(&found[next]);
        found.extend(deeper);
        next += 1;
    }
    found.truncate(MAX_REF_DIRS);
    found
}
