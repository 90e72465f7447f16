//! Lists the differences between two trees.

use std::ops::ControlFlow;
use std::time::Instant;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::diff::tree::{Recorder, State, Visit, visit};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;

use crate::git_error::GitError;
use crate::objects::{Objects, TreeEntry};

/// Most changes that are counted; the paths of a commit with more mean nothing.
const MOST_COUNTED: usize = 1_000_000;

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// Path from the top of the tree; bytes that are not UTF-8 are replaced by U+FFFD.
    pub path: String,
    /// Entry in the old tree; `None` if the file was added.
    pub old: Option<TreeEntry>,
    /// Entry in the new tree; `None` if the file was removed.
    pub new: Option<TreeEntry>,
}

/// The files that differ between two trees.
#[derive(Debug, Default)]
pub struct TreeChanges {
    /// The first files that differ, by depth, then by name.
    pub paths: Vec<PathChange>,
    /// Number of all files that differ.
    pub total: usize,
}

impl Objects {
    /// Compares two trees, file by file; without an old tree, every file is new. Returns at most `most` changes, and their
    /// total number.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn compare_trees(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
        most: usize,
    ) -> Result<TreeChanges, GitError> {
        self.compare_trees_until(old, new, most, None)
    }

    /// Like [`Self::compare_trees`], but stops at the deadline `until` and returns the changes found until then.
    fn compare_trees_until(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
        most: usize,
        until: Option<Instant>,
    ) -> Result<TreeChanges, GitError> {
        if old == Some(new) {
            return Ok(TreeChanges::default());
        }
        let old_bytes = old.map_or(Ok(Vec::new()), |old| self.read_tree(old))?;
        let new_bytes = self.read_tree(new)?;
        let mut collect =
            ChangeCollector { most, until, at: Recorder::default(), changes: TreeChanges::default() };
        let old_entries = TreeRefIter::from_bytes(&old_bytes, self.object_hash());
        let new_entries = TreeRefIter::from_bytes(&new_bytes, self.object_hash());
        let compared = gix::diff::tree(old_entries, new_entries, State::default(), self, &mut collect);
        match compared {
            Ok(()) | Err(gix::diff::tree::Error::Cancelled) => Ok(collect.changes),
            Err(error) => Err(GitError::Object { id: new, reason: error.to_string() }),
        }
    }

    /// Returns every file, link and submodule of a tree with its path; names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn list_tree_files(&self, tree: ObjectId) -> Result<Vec<(String, TreeEntry)>, GitError> {
        self.list_tree_files_until(tree, None)
    }

    /// Like [`Self::list_tree_files`], but stops at the deadline `until` and returns the files found until then.
    pub(crate) fn list_tree_files_until(
        &self,
        tree: ObjectId,
        until: Option<Instant>,
    ) -> Result<Vec<(String, TreeEntry)>, GitError> {
        let paths = self.compare_trees_until(None, tree, MOST_COUNTED, until)?.paths.into_iter();
        Ok(paths.filter_map(|change| Some((change.path, change.new?))).collect())
    }
}

/// Collects the changes of files, and skips directories.
struct ChangeCollector {
    most: usize,
    /// Time after which nothing more is collected.
    until: Option<Instant>,
    /// Buffer for the current path.
    at: Recorder,
    changes: TreeChanges,
}

impl ChangeCollector {
    fn is_cut(&self) -> bool {
        self.changes.total >= MOST_COUNTED || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Adds the change of an entry, unless it is a directory.
    fn add_change(&mut self, old: Option<TreeEntry>, new: Option<TreeEntry>) {
        let [old, new] = [old, new].map(|entry| entry.filter(|entry| !entry.is_directory()));
        if old.is_none() && new.is_none() {
            return;
        }
        self.changes.total += 1;
        if self.changes.paths.len() < self.most {
            let path = self.at.path().to_str_lossy().into_owned();
            self.changes.paths.push(PathChange { path, old, new });
        }
    }
}

impl Visit for ChangeCollector {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.at.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.at.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.at.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.at.pop_path_component();
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        use visit::Change::{Addition, Deletion, Modification};
        match change {
            Addition { entry_mode, oid, .. } => self.add_change(None, tree_entry(oid, entry_mode)),
            Deletion { entry_mode, oid, .. } => self.add_change(tree_entry(oid, entry_mode), None),
            Modification { previous_entry_mode, previous_oid, entry_mode, oid } => {
                self.add_change(tree_entry(previous_oid, previous_entry_mode), tree_entry(oid, entry_mode));
            }
        }
        if self.is_cut() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Makes an entry from its id and mode.
fn tree_entry(id: ObjectId, mode: EntryMode) -> Option<TreeEntry> {
    Some(TreeEntry { id, kind: mode.kind() })
}
