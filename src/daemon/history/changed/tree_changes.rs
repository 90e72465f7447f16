//! Holds the differences between a tree and a worktree, or between two trees, file by file.

use std::collections::BTreeMap;

use memod_git::{EntryKind, ObjectId, TreeEntry};
use memod_proto::{ChangedFile, FileStatus};

use crate::daemon::shared::change_cache::{ContentChange, PathOnDisk};

/// The differences between a tree and a worktree, or between two trees, by path.
#[derive(Default)]
pub(super) struct ChangesByPath {
    pub(super) added: BTreeMap<String, NewContent>,
    pub(super) removed: BTreeMap<String, TreeEntry>,
    pub(super) modified: BTreeMap<String, ModifiedFile>,
    renamed: BTreeMap<String, (String, ModifiedFile)>,
    /// Submodules, and paths of the tree that the manifest does not list, with what is there on disk.
    pub(super) on_disk: Vec<(String, PathOnDisk)>,
    /// Whether the differences follow from the commit, the manifest and git's index alone, so that they can be cached: no file was
    /// read whose content is newer.
    pub(super) is_cacheable: bool,
}

/// The new content of a file; `hash` is its blake3 where it is indexed.
pub(super) struct NewContent {
    pub(super) id: ObjectId,
    pub(super) hash: Option<[u8; 32]>,
}

/// A file whose content, type or permission to execute has changed.
pub(super) struct ModifiedFile {
    pub(super) old: ObjectId,
    pub(super) new: NewContent,
}

impl ChangesByPath {
    /// Turns an added and a removed file into one renamed file.
    pub(super) fn record_rename(&mut self, new: String, old: String) {
        if let (Some(added), Some(was)) = (self.added.remove(&new), self.removed.remove(&old)) {
            self.renamed.insert(new, (old, ModifiedFile { old: was.id, new: added }));
        }
    }

    /// Records a submodule that was added, removed or moved to another commit; `None` means no submodule.
    pub(super) fn add_submodule(&mut self, path: String, old: Option<ObjectId>, new: Option<ObjectId>) {
        let added = new.map(|id| NewContent { id, hash: None });
        match (old, added) {
            (Some(old), Some(new)) if old != new.id => {
                self.modified.insert(path, ModifiedFile { old, new });
            }
            (None, Some(new)) => drop(self.added.insert(path, new)),
            (Some(id), None) => drop(self.removed.insert(path, TreeEntry { id, kind: EntryKind::Commit })),
            _ => {}
        }
    }

    /// Returns all changes, ordered by path.
    pub(super) fn into_list(self) -> Vec<ContentChange> {
        let added = self.added.into_iter();
        let added =
            added.map(|(path, added)| build_change((path, FileStatus::Added), None, None, Some(added)));
        let removed = self.removed.into_iter();
        let removed =
            removed.map(|(path, was)| build_change((path, FileStatus::Removed), None, Some(was.id), None));
        let modified = self.modified.into_iter();
        let modified = modified.map(|(path, ModifiedFile { old, new })| {
            build_change((path, FileStatus::Modified), None, Some(old), Some(new))
        });
        let renamed = self.renamed.into_iter();
        let renamed = renamed.map(|(path, (from, ModifiedFile { old, new }))| {
            build_change((path, FileStatus::Renamed), Some(from), Some(old), Some(new))
        });
        let mut list: Vec<ContentChange> = added.chain(removed).chain(modified).chain(renamed).collect();
        list.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        list
    }
}

fn build_change(
    (path, status): (String, FileStatus),
    from: Option<String>,
    old: Option<ObjectId>,
    new: Option<NewContent>,
) -> ContentChange {
    let file = ChangedFile { path, status, from, ..ChangedFile::default() };
    let (new, hash) = new.map_or((None, None), |new| (Some(new.id), new.hash));
    ContentChange { file, old, new, hash }
}
