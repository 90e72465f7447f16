//! Caches the changes of each worktree since a commit, while its files, git's index, settings and attributes stay the same.

use std::convert::Infallible;
use std::sync::Arc;

use memod_base::types::{Stat, WorktreeId};
use memod_git::{AttributeFile, ObjectId, OutsideAttributes, Settings};
use memod_proto::ChangedFile;

use crate::daemon::shared::worktree_cache::{CacheValue, WorktreeCache};

/// Maximum memory of the changes of all worktrees together, bytes.
const MOST_BYTES: usize = 16 << 20;

/// Caches the changes of worktrees.
pub(in crate::daemon) struct ChangeCache(WorktreeCache<Option<CachedChanges>>);

/// The changes of a worktree, with the inputs from which they follow.
#[derive(Clone)]
pub(in crate::daemon) struct CachedChanges {
    pub(in crate::daemon) inputs: ChangeInputs,
    /// Submodules and paths that the manifest does not list, so that the clock does not cover them.
    pub(in crate::daemon) on_disk: Arc<[(String, PathOnDisk)]>,
    /// The attribute files that were read; the manifest need not list them.
    pub(in crate::daemon) attributes: Arc<[AttributeFile]>,
    pub(in crate::daemon) changes: Arc<[ContentChange]>,
}

/// The inputs from which the changes of a worktree follow.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::daemon) struct ChangeInputs {
    /// Clock of the worktree's snapshot.
    pub(in crate::daemon) clock: String,
    /// The commit with which the worktree is compared.
    pub(in crate::daemon) base: Option<ObjectId>,
    /// [`Stat`] of the file of git's index.
    pub(in crate::daemon) index: Option<Stat>,
    pub(in crate::daemon) settings: Settings,
    pub(in crate::daemon) outside: OutsideAttributes,
}

/// The entry at a path in the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum PathOnDisk {
    /// Nothing that git would see.
    Nothing,
    /// A directory; if it is a repository of its own, with the commit that is checked out there.
    Directory(Option<ObjectId>),
    /// A file, a link or anything else.
    Other,
}

/// A changed file, with its old and new contents.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct ContentChange {
    /// The file, without its changed definitions.
    pub(in crate::daemon) file: ChangedFile,
    /// Object id of the old content.
    pub(in crate::daemon) old: Option<ObjectId>,
    /// Object id of the new content.
    pub(in crate::daemon) new: Option<ObjectId>,
    /// blake3 of the present content, if that is indexed.
    pub(in crate::daemon) hash: Option<[u8; 32]>,
}

impl CacheValue for Option<CachedChanges> {
    fn size_bytes(&self) -> usize {
        self.as_ref().map_or(0, |kept| {
            let changed = kept.changes.iter().map(|change| change.file.path.len());
            let attributes = kept.attributes.iter().map(|(path, _)| path.len());
            let on_disk = kept.on_disk.iter().map(|(path, _)| path.len());
            let lengths = changed.chain(attributes).chain(on_disk);
            lengths.map(|length| length + size_of::<ContentChange>()).sum()
        })
    }
}

impl Default for ChangeCache {
    fn default() -> Self {
        Self(WorktreeCache::new(MOST_BYTES))
    }
}

impl ChangeCache {
    /// Returns the cached changes of a worktree, if there are any.
    pub(in crate::daemon) fn find_cached_changes(&self, view: WorktreeId) -> Option<CachedChanges> {
        let Ok(kept) = self.0.update_value(view, |former| Ok::<_, Infallible>(former.flatten()));
        kept
    }

    /// Caches the changes of a worktree in place of the former ones.
    pub(in crate::daemon) fn keep_changes(&self, view: WorktreeId, kept: CachedChanges) {
        let Ok(_) = self.0.update_value(view, |_| Ok::<_, Infallible>(Some(kept)));
    }

    /// Forgets all changes.
    pub(in crate::daemon) fn clear(&self) {
        self.0.retain_worktrees(&[]);
    }
}
