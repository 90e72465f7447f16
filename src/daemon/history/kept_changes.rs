//! Keeps the changes of each worktree since a commit, as long as its files, git's index, settings and attributes stay the same.

use std::convert::Infallible;
use std::sync::Arc;

use memod_base::types::{Stat, ViewId};
use memod_git::{AttributeFile, ObjectId, OutsideAttributes, Settings};
use memod_proto::ChangedFile;

use crate::daemon::request::per_view::{Kept, PerView};

/// Memory of the changes of all worktrees together, bytes.
const MOST_BYTES: usize = 16 << 20;

/// The changes of worktrees.
pub(in crate::daemon) struct KeptChanges(PerView<Option<ChangesOfView>>);

/// The changes of a view, and what they follow from.
#[derive(Clone)]
pub(in crate::daemon) struct ChangesOfView {
    pub(in crate::daemon) source: Source,
    /// Submodules and paths that the manifest does not list: no clock tells of them.
    pub(in crate::daemon) on_disk: Arc<[(String, OnDisk)]>,
    /// Files of attributes: the manifest need not list them.
    pub(in crate::daemon) attributes: Arc<[AttributeFile]>,
    pub(in crate::daemon) changes: Arc<[Change]>,
}

/// What the changes of a view follow from.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::daemon) struct Source {
    /// Of the view.
    pub(in crate::daemon) clock: String,
    /// The commit.
    pub(in crate::daemon) base: Option<ObjectId>,
    /// Signature of git's index.
    pub(in crate::daemon) index: Option<Stat>,
    pub(in crate::daemon) settings: Settings,
    pub(in crate::daemon) outside: OutsideAttributes,
}

/// The kind of thing that stands at a path of the worktree.
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
pub(in crate::daemon) struct Change {
    /// Without its definitions.
    pub(in crate::daemon) file: ChangedFile,
    /// Its old content.
    pub(in crate::daemon) old: Option<ObjectId>,
    /// Its new content.
    pub(in crate::daemon) new: Option<ObjectId>,
    /// blake3 of its present content, where it is indexed.
    pub(in crate::daemon) hash: Option<[u8; 32]>,
}

impl Kept for Option<ChangesOfView> {
    fn size(&self) -> usize {
        let of_path = |path: &str| path.len() + size_of::<Change>();
        self.as_ref().map_or(0, |kept| {
            let changed: usize = kept.changes.iter().map(|change| of_path(&change.file.path)).sum();
            let attributes: usize = kept.attributes.iter().map(|(path, _)| of_path(path)).sum();
            changed + attributes + kept.on_disk.iter().map(|(path, _)| of_path(path)).sum::<usize>()
        })
    }
}

impl Default for KeptChanges {
    fn default() -> Self {
        Self(PerView::new(MOST_BYTES))
    }
}

impl KeptChanges {
    /// Returns what is kept of a view.
    pub(in crate::daemon) fn of(&self, view: ViewId) -> Option<ChangesOfView> {
        let Ok(kept) = self.0.of(view, |former| Ok::<_, Infallible>(former.flatten()));
        kept
    }

    /// Keeps the changes of a view in place of the former ones.
    pub(in crate::daemon) fn keep(&self, view: ViewId, kept: ChangesOfView) {
        let Ok(_) = self.0.of(view, |_| Ok::<_, Infallible>(Some(kept)));
    }

    /// Forgets all changes.
    pub(in crate::daemon) fn clear(&self) {
        self.0.retain(&[]);
    }
}
