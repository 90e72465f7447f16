//! Compares the tree of a commit with the manifest of a worktree.
//!
//! Git's index has the object ids of most files; the other files are read.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use memod_base::clock::now_ms;
use memod_base::paths::{IoContext as _, none_if_unreadable};
use memod_base::types::{ReadRefusal, SourceKey};
use memod_engine::errors::RpcResult;
use memod_git::{EntryKind, GitIndex, ObjectId, TreeEntry};
use memod_index_db::ManifestEntry;

use super::conversions::WorktreeConversions;
use super::outside_checkout::UncomparedEntries;
use super::renames;
use super::tree_changes::{ChangesByPath, ModifiedFile, NewContent};
use super::unlisted_paths::UnlistedPaths;
use super::version_texts::VersionTextReader;
use crate::daemon::shared::Shared;
use crate::daemon::shared::change_cache::PathOnDisk;
use crate::daemon::shared::object_ids::{ContentKey, ObjectIds};

/// Files larger than this count as changed unless git's index shows that they are unchanged, bytes.
const MOST_HASHED_BYTES: u64 = 64 << 20;

/// The worktree that a tree is compared with.
pub(super) struct ComparedWorktree<'a> {
    pub(super) shared: &'a Shared,
    pub(super) texts: &'a VersionTextReader<'a>,
    pub(super) tracked: &'a GitIndex,
    pub(super) manifest: &'a HashMap<SourceKey, ManifestEntry>,
    pub(super) conversions: &'a WorktreeConversions<'a>,
    pub(super) unlisted: &'a UnlistedPaths<'a>,
}

impl ComparedWorktree<'_> {
    /// Returns the differences of the worktree from the tree of a commit; without a commit, every file counts as added.
    ///
    /// # Errors
    /// When an object of the tree cannot be read.
    pub(super) fn compare_with(&self, base: Option<ObjectId>) -> RpcResult<ChangesByPath> {
        let objects = &self.texts.history.objects;
        let tree = base.map(|base| objects.read_commit_node(base)).transpose()?.map(|node| node.tree);
        let listed = tree.map(|tree| objects.list_tree_files(tree)).transpose()?;
        let mut old: UncomparedEntries = listed.into_iter().flatten().collect();
        let is_settled = Cell::new(true);
        let mut changes = ChangesByPath::default();
        for (key, entry) in self.manifest {
            if entry.refusal == Some(ReadRefusal::NestedRepository) {
                continue; // another repository has a history of its own
            }
            let was = old.remove(key.as_str());
            let Some(now) = self.find_object_id(key, entry, was.as_ref(), &is_settled) else { continue };
            let (path, hash) = (key.to_string(), entry.hash);
            match was {
                None => drop(changes.added.insert(path, NewContent { id: now, hash })),
                Some(was) if was.id != now || self.has_other_kind(key, &was, entry) => {
                    let new = NewContent { id: now, hash };
                    changes.modified.insert(path, ModifiedFile { old: was.id, new });
                }
                Some(_) => {}
            }
        }
        self.compare_outside(tree, &mut old, &mut changes)?;
        self.compare_unlisted(old, &mut changes);
        changes.is_cacheable = is_settled.get() && self.texts.first_error().is_none();
        Ok(changes)
    }

    /// Adds the differences of paths that the manifest does not list: `old`, the remaining entries of the tree, and the submodules.
    fn compare_unlisted(&self, old: UncomparedEntries, changes: &mut ChangesByPath) {
        let mut submodules = self.list_submodules(changes);
        let mut former = Vec::new();
        for (path, was) in old {
            let submodule = submodules.remove(&path);
            if was.is_submodule() {
                former.push((path, was.id, submodule));
                continue;
            }
            if !was.has_text() {
                continue;
            }
            let is_file = self.tracked.entry_kind(path.as_str().into()).is_some();
            let commit = match submodule {
                Some(commit) => Some(commit),
                None => match self.examine_path(&path, changes) {
                    // Where git's index has a file, git takes a nested repository for a submodule.
                    Some(PathOnDisk::Directory(commit)) => commit.filter(|_| is_file),
                    Some(PathOnDisk::Nothing) => None,
                    Some(PathOnDisk::Other) | None => continue,
                },
            };
            match commit {
                Some(id) => {
                    let new = NewContent { id, hash: None };
                    changes.modified.insert(path, ModifiedFile { old: was.id, new });
                }
                None => drop(changes.removed.insert(path, was)),
            }
        }
        renames::pair_renames(changes, self.texts);
        former.into_iter().for_each(|(path, was, now)| changes.add_submodule(path, Some(was), now));
        submodules.into_iter().for_each(|(path, now)| changes.add_submodule(path, None, Some(now)));
    }

    /// Returns the submodules in the worktree, each with the commit that is checked out, else with the one that git's index
    /// records.
    fn list_submodules(&self, changes: &mut ChangesByPath) -> BTreeMap<String, ObjectId> {
        let mut submodules = self.tracked.submodules();
        submodules.retain(|path, commit| match self.examine_path(path, changes) {
            Some(PathOnDisk::Directory(checked_out)) => {
                *commit = checked_out.unwrap_or(*commit);
                true
            }
            Some(PathOnDisk::Nothing) => self.tracked.is_outside_sparse_checkout(path.as_str().into()),
            Some(PathOnDisk::Other) => false, // the manifest lists the file that is there instead
            None => true,
        });
        submodules
    }

    fn examine_path(&self, path: &str, changes: &mut ChangesByPath) -> Option<PathOnDisk> {
        let found = self.unlisted.examine_path(path)?;
        changes.on_disk.push((path.to_owned(), found));
        Some(found)
    }

    /// Returns whether a file is of another type than before, or has another permission to execute.
    fn has_other_kind(&self, key: &SourceKey, was: &TreeEntry, entry: &ManifestEntry) -> bool {
        let settings = &self.texts.history.settings;
        let indexed_kind = self.tracked.entry_kind(key.as_str().into()).unwrap_or(was.kind);
        let now = match entry.stat.is_executable() {
            None if entry.stat.mode & 0o170_000 == 0o120_000 => EntryKind::Link,
            None => return false, // git stores no files of this type
            // Where the file system has no such property, git's index decides.
            Some(_) if indexed_kind == EntryKind::Link && !settings.symlinks => indexed_kind,
            Some(is_executable) if settings.file_mode && cfg!(unix) => kind_of_file(is_executable),
            Some(_) => kind_of_file(indexed_kind == EntryKind::BlobExecutable),
        };
        now != was.kind
    }

    /// Returns the object id that git would give to the content of a file: the id in `was` if git converts the content into that
    /// object; `None` if the file is gone or cannot be read.
    fn find_object_id(
        &self,
        key: &SourceKey,
        entry: &ManifestEntry,
        was: Option<&TreeEntry>,
        is_settled: &Cell<bool>,
    ) -> Option<ObjectId> {
        // Files with credentials and huge files are not read.
        let is_secret = entry.refusal == Some(ReadRefusal::SecretName);
        let unknown = ObjectId::null(self.texts.history.object_hash);
        match self.tracked.recorded_content(key.as_str().into(), &entry.stat) {
            Some((id, is_racy)) if !is_racy || is_secret => return Some(id),
            _ if is_secret => return Some(unknown),
            _ => {}
        }
        let content = ContentKey::from_entry(key, entry);
        let ids = match self.shared.object_ids.find_ids(&content) {
            Some(known) => Some(known),
            None => self.read_object_ids(key, content, is_settled)?,
        };
        let now = ids.map_or(unknown, |ids| ids.raw);
        let Some(was) = was else { return Some(now) };
        if now == was.id || ids.is_some_and(|ids| ids.lf == was.id) {
            return Some(was.id);
        }
        if !was.is_file() || entry.stat.is_executable().is_none() {
            return Some(now); // git does not convert the target of a link
        }
        match self.conversions.is_stored_as(key, was.id, MOST_HASHED_BYTES) {
            Some(false) => Some(now),
            Some(true) => Some(was.id),
            None => {
                is_settled.set(false);
                Some(was.id)
            }
        }
    }

    /// Reads a file and returns the object ids of its content: `Some(None)` if it is too large, `None` if it is gone or unreadable.
    fn read_object_ids(
        &self,
        key: &SourceKey,
        listed: ContentKey,
        is_settled: &Cell<bool>,
    ) -> Option<Option<ObjectIds>> {
        let root = &self.texts.at.layout.root;
        let path = key.path_in(root);
        let read_at_ns = now_ms() * 1_000_000;
        let read =
            none_if_unreadable(self.texts.at.disk.read_bytes(root, key, MOST_HASHED_BYTES)).at("read", &path);
        let bytes = match self.texts.record_error(read) {
            Some(Some(Some(bytes))) => bytes,
            Some(Some(None)) => return Some(None),
            _ => {
                is_settled.set(false);
                return None;
            }
        };
        let ids = ObjectIds::from_bytes(self.texts.history.object_hash, &bytes);
        // The content may be newer than the manifest.
        let is_listed = match &listed {
            ContentKey::Hash(hash) => blake3::hash(&bytes) == *hash,
            ContentKey::Stat(_, stat) => {
                self.texts.at.disk.lstat(&path).is_ok_and(|now| now == *stat)
                    && !memod_scan::is_racy(stat, read_at_ns)
            }
        };
        if is_listed {
            self.shared.object_ids.add_ids(listed, ids);
        } else {
            is_settled.set(false);
        }
        Some(Some(ids))
    }
}

fn kind_of_file(is_executable: bool) -> EntryKind {
    if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob }
}
