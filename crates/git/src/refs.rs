//! Resolves references and revisions to commits.
//!
//! Reads loose and packed refs, including those private to a worktree, and follows symbolic ones. Refs in a reftable are
//! reported as unreadable.

pub(crate) mod head;
pub(crate) mod revision;

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::hash::Kind as ObjectHash;
use gix::refs::file::Store;
use gix::refs::{PartialName, Target};
use memod_base::paths::RepoLayout;

use super::special::refuse_special_ref;
use crate::git_error::{GitError, find_system_error};

/// Maximum depth of symbolic refs; the same as git's.
const MOST_SYMBOLIC: usize = 5;

/// The history of a worktree at one moment. Equal values mean the same commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The commit of `HEAD`, `None` on a branch without a commit, or why the commit is unknown.
    pub head: Result<Option<ObjectId>, String>,
    /// Whether `head` is unknown because a file of git could not be read.
    pub is_unread: bool,
    /// The hash function of the repository's object ids.
    pub object_hash: ObjectHash,
    /// Length and modification time of the file `shallow`, which lists where a shallow history ends.
    shallow: Option<(u64, Option<SystemTime>)>,
}

impl Tip {
    /// Returns whether the history is shallow.
    pub fn is_shallow(&self) -> bool {
        self.shallow.is_some()
    }
}

/// The refs of one worktree. Every call reads the files again.
#[derive(Clone, Debug)]
pub struct Refs {
    layout: RepoLayout,
    object_hash: ObjectHash,
}

impl Refs {
    /// Prepares to read the refs of a worktree; `None` outside git.
    pub fn new(layout: &RepoLayout, object_hash: ObjectHash) -> Option<Self> {
        layout.git_dir.as_ref()?;
        Some(Self { layout: layout.clone(), object_hash })
    }

    /// Returns the history of the worktree, with a few small reads and no lock.
    pub fn read_tip(&self) -> Tip {
        let shallow = self.layout.common_dir.as_ref().and_then(|dir| fs::metadata(dir.join("shallow")).ok());
        let head = self.resolve_ref("HEAD");
        Tip {
            is_unread: head.as_ref().is_err_and(GitError::is_unreadable),
            head: head.map_err(|error| error.to_string()),
            object_hash: self.object_hash,
            shallow: shallow.map(|meta| (meta.len(), meta.modified().ok())),
        }
    }

    /// Returns the object of a full or short name, such as `main`, `v1.0` or `origin/main`; `None` if there is no such ref or
    /// the branch has no commit. For an annotated tag, returns the tag object.
    ///
    /// # Errors
    /// When a ref is damaged, refers to itself, or is stored in a form that cannot be read.
    pub fn resolve_ref(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let mut name = name.to_owned();
        for _ in 0..=MOST_SYMBOLIC {
            match self.read_target(&name)? {
                None => return Ok(None),
                Some(Target::Object(id)) => return Ok(Some(id)),
                Some(Target::Symbolic(next)) => name = next.as_bstr().to_string(),
            }
        }
        Err(ref_error(
            &name,
            format!("more than {MOST_SYMBOLIC} symbolic refs in a row, or a circle of them"),
        ))
    }

    /// Reads the target of a ref; `None` if there is no such ref.
    fn read_target(&self, name: &str) -> Result<Option<Target>, GitError> {
        let common_dir = self.layout.common_dir.as_ref();
        let (Some(git_dir), Some(common_dir)) = (&self.layout.git_dir, common_dir) else { return Ok(None) };
        if common_dir.join("reftable").is_dir() {
            return Err(ref_error(name, "stored in a reftable, which is not supported".to_owned()));
        }
        let Ok(partial) = PartialName::try_from(name) else { return Ok(None) };
        refuse_special_ref(git_dir, common_dir, name)?;
        // A new store each time, because it caches packed-refs by a time stamp that can be too coarse.
        let store = Store::for_linked_worktree(git_dir.clone(), common_dir.clone(), self.object_hash);
        let found = store.try_find(partial.as_ref());
        match found {
            Ok(reference) => Ok(reference.map(|reference| reference.target)),
            Err(error) => {
                let places = [git_dir.join(name), common_dir.join(name), common_dir.join("packed-refs")];
                let place = places.iter().find(|place| is_unreadable(place)).unwrap_or(&places[0]);
                Err(find_system_error(&error, place).unwrap_or_else(|| ref_error(name, error.to_string())))
            }
        }
    }

    /// Returns the full name of the branch that `HEAD` is on.
    pub fn current_branch(&self) -> Option<String> {
        match self.read_target("HEAD") {
            Ok(Some(Target::Symbolic(name))) => name.as_bstr().to_str().ok().map(str::to_owned),
            _ => None,
        }
    }
}

/// Returns whether a file exists and cannot be read.
fn is_unreadable(path: &Path) -> bool {
    fs::read(path).is_err_and(|error| {
        !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
        )
    })
}

/// Returns the error for a ref that cannot be read.
fn ref_error(name: &str, reason: String) -> GitError {
    GitError::Ref { name: name.to_owned(), reason }
}
