//! Compares the files outside of a sparse checkout, as far as git's index has them.
//!
//! They are not on the disk, so git takes each for what its index records.

use std::collections::HashMap;

use memod_base::types::SourceKey;
use memod_engine::errors::RpcResult;
use memod_git::{EntryKind, GitError, ObjectId, TreeEntry};

use super::compare_worktree::ComparedWorktree;
use super::tree_changes::{ChangesByPath, ModifiedFile, NewContent};

/// The entries of a tree that are not compared yet, by path.
pub(super) type UncomparedEntries = HashMap<String, TreeEntry>;

impl ComparedWorktree<'_> {
    /// Takes the files outside of the checkout from `old`, the entries of the tree `base`, and adds their differences.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub(super) fn compare_outside(
        &self,
        base: Option<ObjectId>,
        old: &mut UncomparedEntries,
        changes: &mut ChangesByPath,
    ) -> RpcResult<()> {
        let mut unchanged_dirs = Vec::new();
        for (path, is_outside, id) in self.tracked.paths_by_sparseness() {
            let Ok(name) = std::str::from_utf8(path) else { continue };
            if !is_outside {
                continue;
            }
            // A sparse index has a directory instead of its files.
            if name.ends_with('/') {
                let Some(files) = self.list_changed_directory(base, (name, id))? else {
                    unchanged_dirs.push(name);
                    continue;
                };
                for (below, entry) in files {
                    self.compare_entry(format!("{name}{below}"), entry, (old, changes));
                }
            } else if let Some(kind) = self.tracked.entry_kind(path).filter(|kind| *kind != EntryKind::Commit)
            {
                // Submodules in the index are compared with those in the worktree.
                self.compare_entry(name.to_owned(), TreeEntry { id, kind }, (old, changes));
            }
        }
        unchanged_dirs.sort_unstable();
        old.retain(|path, _| {
            let at = unchanged_dirs.partition_point(|dir| *dir <= path.as_str());
            !unchanged_dirs[..at].last().is_some_and(|dir| path.starts_with(dir))
        });
        Ok(())
    }

    /// Returns the files below a directory that has this tree now; `None` if it had the same before, or a partial clone lacks it.
    fn list_changed_directory(
        &self,
        base: Option<ObjectId>,
        (path, tree): (&str, ObjectId),
    ) -> Result<Option<Vec<(String, TreeEntry)>>, GitError> {
        let objects = &self.texts.history.objects;
        let before = base.map(|base| objects.find_tree_entry(base, path)).transpose()?.flatten();
        if before.is_some_and(|entry| entry.id == tree) {
            return Ok(None);
        }
        match objects.list_tree_files(tree) {
            Ok(files) => Ok(Some(files)),
            Err(error) if error.is_unreadable() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Compares what git's index records for a path; does nothing if the worktree has a file there all the same.
    fn compare_entry(
        &self,
        path: String,
        now: TreeEntry,
        (old, changes): (&mut UncomparedEntries, &mut ChangesByPath),
    ) {
        if self.manifest.contains_key(&SourceKey::new(path.as_str())) {
            return;
        }
        let was = old.remove(&path);
        if now.kind == EntryKind::Commit {
            return changes.add_submodule(path, was.map(|was| was.id), Some(now.id));
        }
        let new = NewContent { id: now.id, hash: None };
        match was {
            None => drop(changes.added.insert(path, new)),
            Some(was) if was != now => drop(changes.modified.insert(path, ModifiedFile { old: was.id, new })),
            Some(_) => {}
        }
    }
}
