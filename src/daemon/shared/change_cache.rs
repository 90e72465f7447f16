//! Caches the changes of each worktree since a commit, while its files, git's index, settings and attributes stay the same.

use std::convert::Infallible;
use std::sync::Arc;

use memod_base::types::{Stat, WorktreeId};
use memod_git::{AttributeFile, ObjectId, OutsideAttributes, Settings};
use memod_proto::ChangedFile;

use crate::daemon::shared::worktree_cache::{CacheValue, WorktreeCache};

/// Memory of the changes of all worktrees together, bytes.
const MOST_BYTES: usize = 16 << 20;

/// The changes of worktrees.
pub(in crate::daemon) struct ChangeCache(WorktreeCache<Option<CachedChanges>>);

/// The changes of a worktree with their inputs.
#[derive(Clone)]
pub(in crate::daemon) struct CachedChanges {
    pub(in crate::daemon) source: ChangeInputs,
    /// Submodules and paths that the manifest does not list, so no clock covers them.
    pub(in crate::daemon) on_disk: Arc<[(String, OnDisk)]>,
    /// Files of attributes: the manifest need not list them.
    pub(in crate::daemon) attributes: Arc<[AttributeFile]>,
    pub(in crate::daemon) changes: Arc<[ContentChange]>,
}

/// The inputs from which the changes of a worktree follow.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::daemon) struct ChangeInputs {
    /// Of the worktree.
    pub(in crate::daemon) clock: String,
    /// The commit.
    pub(in crate::daemon) base: Option<ObjectId>,
    /// Signature of git's index.
    pub(in crate::daemon) index: Option<Stat>,
    pub(in crate::daemon) settings: Settings,
    pub(in crate::daemon) outside: OutsideAttributes,
}

/// The kind of a path in the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum OnDisk {
    /// Nothing that git would see.
    Nothing,
    /// A directory, and the commit that is checked out if it is that of another repository.
    Directory(Option<ObjectId>),
    /// A file, a link or anything else.
    Other,
}

/// A changed file.
#[derive(Clone, Debug)]
pub(in crate::daemon) struct ContentChange {
    /// Without its definitions.
    pub(in crate::daemon) file: ChangedFile,
    /// Its old content.
    pub(in crate::daemon) old: Option<ObjectId>,
    /// Its new content.
    pub(in crate::daemon) new: Option<ObjectId>,
    /// blake3 of its present content, where it is indexed.
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
    /// Returns the kept changes of a worktree.
    pub(in crate::daemon) fn find_changes(&self, view: WorktreeId) -> Option<CachedChanges> {
        let Ok(kept) = self.0.update_value(view, |former| Ok::<_, Infallible>(former.flatten()));
        kept
    }

    /// Keeps the changes of a worktree in place of the former ones.
    pub(in crate::daemon) fn keep_changes(&self, view: WorktreeId, kept: CachedChanges) {
        let Ok(_) = self.0.update_value(view, |_| Ok::<_, Infallible>(Some(kept)));
    }

    /// Forgets all changes.
    pub(in crate::daemon) fn clear(&self) {
        self.0.retain(&[]);
    }
}
