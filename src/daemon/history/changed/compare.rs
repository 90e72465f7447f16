//! Compares the tree of a commit with a manifest.
//!
//! Git's index knows the content of most files; the others are read.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use memod_base::paths::{IoContext as _, if_readable};
use memod_base::types::{Refusal, SourceKey};
use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_git::{EntryKind, ObjectId, Tracked, TreeEntry};
use memod_index_db::Entry;
use memod_proto::{ChangedFile, FileStatus};

use super::conversions::Conversions;
use super::on_disk::UnlistedPaths;
use super::renames;
use super::texts::Texts;
use crate::daemon::history::kept_changes::{Change, OnDisk};
use crate::daemon::history::object_ids::{ContentKey, ObjectIds};
use crate::daemon::shared::Shared;

/// Files larger than this count as changed unless git knows that they are not, bytes.
const MOST_HASHED_BYTES: u64 = 64 << 20;

/// The differences between a tree and a worktree.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) added: BTreeMap<String, Added>,
    pub(super) removed: BTreeMap<String, TreeEntry>,
    pub(super) modified: BTreeMap<String, Modified>,
    renamed: BTreeMap<String, (String, Modified)>,
    /// Submodules and paths of the tree that the manifest does not list, as they were found.
    pub(super) on_disk: Vec<(String, OnDisk)>,
    /// Whether it follows from the commit, the manifest and git's index: nothing newer was read.
    pub(super) is_settled: bool,
}

/// The new content of a file; `hash` is its blake3 where it is indexed.
pub(super) struct Added {
    pub(super) id: ObjectId,
    pub(super) hash: Option<[u8; 32]>,
}

/// A file with another content than before.
pub(super) struct Modified {
    pub(super) old: ObjectId,
    pub(super) new: Added,
}

impl Changes {
    /// Makes one file of an added and a removed one.
    pub(super) fn rename(&mut self, new: String, old: String) {
        if let (Some(added), Some(was)) = (self.added.remove(&new), self.removed.remove(&old)) {
            self.renamed.insert(new, (old, Modified { old: was.id, new: added }));
        }
    }

    /// Records a submodule that was added, removed or moved to another commit; `None` stands for no submodule.
    pub(super) fn add_submodule(&mut self, path: String, old: Option<ObjectId>, new: Option<ObjectId>) {
        let added = new.map(|id| Added { id, hash: None });
        match (old, added) {
            (Some(old), Some(new)) if old != new.id => {
                self.modified.insert(path, Modified { old, new });
            }
            (None, Some(new)) => drop(self.added.insert(path, new)),
            (Some(id), None) => drop(self.removed.insert(path, TreeEntry { id, kind: EntryKind::Commit })),
            _ => {}
        }
    }

    /// Returns them by path.
    pub(super) fn list(self) -> Vec<Change> {
        let change = |path, status, from, old, new: Option<Added>| {
            let file = ChangedFile { path, status, from, ..ChangedFile::default() };
            let (new, hash) = new.map_or((None, None), |new| (Some(new.id), new.hash));
            Change { file, old, new, hash }
        };
        let added = self.added.into_iter();
        let added = added.map(|(path, added)| change(path, FileStatus::Added, None, None, Some(added)));
        let removed = self.removed.into_iter();
        let removed = removed.map(|(path, was)| change(path, FileStatus::Removed, None, Some(was.id), None));
        let modified = self.modified.into_iter();
        let modified = modified.map(|(path, Modified { old, new })| {
            change(path, FileStatus::Modified, None, Some(old), Some(new))
        });
        let renamed = self.renamed.into_iter();
        let renamed = renamed.map(|(path, (from, Modified { old, new }))| {
            change(path, FileStatus::Renamed, Some(from), Some(old), Some(new))
        });
        let mut list: Vec<Change> = added.chain(removed).chain(modified).chain(renamed).collect();
        list.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        list
    }
}

/// What a tree is compared with.
pub(super) struct Worktree<'a> {
    pub(super) shared: &'a Shared,
    pub(super) texts: &'a Texts<'a>,
    pub(super) tracked: &'a Tracked,
    pub(super) manifest: &'a HashMap<SourceKey, Entry>,
    pub(super) conversions: &'a Conversions<'a>,
    pub(super) unlisted: &'a UnlistedPaths<'a>,
}

impl Worktree<'_> {
    /// Returns the differences from the tree of a commit; without one every file is added.
    ///
    /// # Errors
    /// When an object of the tree cannot be read.
    pub(super) fn compare(&self, base: Option<ObjectId>) -> RpcResult<Changes> {
        let mut old = HashMap::new();
        if let Some(base) = base {
            let objects = &self.texts.past.objects;
            old = objects.node(base).and_then(|node| objects.files(node.tree))?.into_iter().collect();
        }
        let is_settled = Cell::new(true);
        let mut changes = Changes::default();
        for (key, entry) in self.manifest {
            if entry.refusal == Some(Refusal::NestedRepository) {
                continue; // another repository has a history of its own
            }
            let was = old.remove(key.as_str());
            let Some(now) = self.content(key, entry, was.as_ref(), &is_settled) else { continue };
            let (path, hash) = (key.to_string(), entry.hash);
            match was {
                None => drop(changes.added.insert(path, Added { id: now, hash })),
                Some(was) if was.id != now || self.has_other_kind(key, &was, entry) => {
                    let new = Added { id: now, hash };
                    changes.modified.insert(path, Modified { old: was.id, new });
                }
                Some(_) => {}
            }
        }
        self.compare_unlisted(old, &mut changes);
        changes.is_settled = is_settled.get() && self.texts.unread().is_none();
        Ok(changes)
    }

    /// Adds the differences of what the manifest does not list: the rest of a tree, and the submodules.
    fn compare_unlisted(&self, old: HashMap<String, TreeEntry>, changes: &mut Changes) {
        let mut submodules = self.list_submodules(changes);
        let mut former = Vec::new();
        for (path, was) in old {
            let submodule = submodules.remove(&path);
            if was.is_submodule() {
                former.push((path, was.id, submodule));
                continue;
            }
            // A sparse checkout omits files, and so do our own ignore files.
            if !was.has_text() || self.tracked.left_out(path.as_str().into()).is_some() {
                continue;
            }
            let is_file = self.tracked.kind(path.as_str().into()).is_some();
            let commit = match submodule {
                Some(commit) => Some(commit),
                None => match self.look_at(&path, changes) {
                    // Git takes a repository for a submodule where the index has a file.
                    Some(OnDisk::Directory(commit)) => commit.filter(|_| is_file),
                    Some(OnDisk::Nothing) => None,
                    Some(OnDisk::Other) | None => continue,
                },
            };
            match commit {
                Some(id) => {
                    let new = Added { id, hash: None };
                    changes.modified.insert(path, Modified { old: was.id, new });
                }
                None => drop(changes.removed.insert(path, was)),
            }
        }
        renames::pair(changes, self.texts);
        former.into_iter().for_each(|(path, was, now)| changes.add_submodule(path, Some(was), now));
        submodules.into_iter().for_each(|(path, now)| changes.add_submodule(path, None, Some(now)));
    }

    /// Returns the submodules that are there, each with the commit that is checked out, else with the one that is recorded.
    fn list_submodules(&self, changes: &mut Changes) -> BTreeMap<String, ObjectId> {
        let mut submodules = self.tracked.submodules();
        submodules.retain(|path, commit| match self.look_at(path, changes) {
            Some(OnDisk::Directory(checked_out)) => {
                *commit = checked_out.unwrap_or(*commit);
                true
            }
            Some(OnDisk::Nothing) => self.tracked.left_out(path.as_str().into()).is_some(),
            Some(OnDisk::Other) => false, // the manifest has a file
            None => true,
        });
        submodules
    }

    fn look_at(&self, path: &str, changes: &mut Changes) -> Option<OnDisk> {
        let found = self.unlisted.look_at(path)?;
        changes.on_disk.push((path.to_owned(), found));
        Some(found)
    }

    /// Returns whether a file is of another type than before, or has another permission to execute.
    fn has_other_kind(&self, key: &SourceKey, was: &TreeEntry, entry: &Entry) -> bool {
        let settings = &self.texts.past.settings;
        let told = self.tracked.kind(key.as_str().into()).unwrap_or(was.kind);
        let now = match entry.stat.is_executable() {
            None if entry.stat.mode & 0o170_000 == 0o120_000 => EntryKind::Link,
            None => return false, // git stores nothing of it
            // Where the file system cannot tell, what git's index says counts.
            Some(_) if told == EntryKind::Link && !settings.symlinks => told,
            Some(is_executable) if settings.file_mode && cfg!(unix) => kind_of_file(is_executable),
            Some(_) => kind_of_file(told == EntryKind::BlobExecutable),
        };
        now != was.kind
    }

    /// Returns the object id that git would give to the content of a path: that of `was` if only line ends differ; `None` if
    /// the file is gone.
    fn content(
        &self,
        key: &SourceKey,
        entry: &Entry,
        was: Option<&TreeEntry>,
        is_settled: &Cell<bool>,
    ) -> Option<ObjectId> {
        // Neither a file with credentials nor a huge file is read.
        let is_secret = entry.refusal == Some(Refusal::SecretName);
        let unknown = ObjectId::null(self.texts.past.object_hash);
        match self.tracked.recorded_content(key.as_str().into(), &entry.stat) {
            Some((id, is_racy)) if !is_racy || is_secret => return Some(id),
            _ if is_secret => return Some(unknown),
            _ => {}
        }
        let content = ContentKey::of(key, entry);
        let ids = match self.shared.object_ids.of(&content) {
            Some(known) => Some(known),
            None => self.read_ids(key, content, is_settled)?,
        };
        let now = ids.map_or(unknown, |ids| ids.raw);
        let Some(was) = was else { return Some(now) };
        if now == was.id || ids.is_some_and(|ids| ids.lf == was.id) {
            return Some(was.id);
        }
        if !was.is_file() || entry.stat.is_executable().is_none() {
            return Some(now); // where a link leads is not converted
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

    /// Reads a file and returns the object ids of its content: `Some(None)` if it is too large, `None` if it is gone.
    fn read_ids(
        &self,
        key: &SourceKey,
        listed: ContentKey,
        is_settled: &Cell<bool>,
    ) -> Option<Option<ObjectIds>> {
        let root = &self.texts.at.layout.root;
        let path = root.join(key.as_str());
        let read_at_ns = now_ms() * 1_000_000;
        let read = if_readable(self.texts.at.disk.bytes(root, key, MOST_HASHED_BYTES)).at("read", &path);
        let bytes = match self.texts.known(read) {
            Some(Some(Some(bytes))) => bytes,
            Some(Some(None)) => return Some(None),
            _ => {
                is_settled.set(false);
                return None;
            }
        };
        let ids = ObjectIds::of(self.texts.past.object_hash, &bytes);
        // What was read may be newer than the manifest.
        let is_listed = match &listed {
            ContentKey::Hash(hash) => blake3::hash(&bytes) == *hash,
            ContentKey::Stat(_, stat) => {
                self.texts.at.disk.lstat(&path).is_ok_and(|now| now == *stat)
                    && !memod_scan::is_racy(stat, read_at_ns)
            }
        };
        if is_listed {
            self.shared.object_ids.add(listed, ids);
        } else {
            is_settled.set(false);
        }
        Some(Some(ids))
    }
}

fn kind_of_file(is_executable: bool) -> EntryKind {
    if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob }
}
