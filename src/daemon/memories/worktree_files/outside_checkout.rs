//! Reads the files of shared memories that a sparse checkout leaves out of the worktree, from the objects of git.
//!
//! git removes these files from the disk without removing them from the branch, so their memories are still there.

use std::collections::BTreeMap;

use memod_base::paths::RepoLayout;
use memod_base::types::Stat;
use memod_git::{GitError, ObjectId, Objects};
use memod_memory::file;

use crate::daemon::request::sparse_index::SparseIndex;
use crate::daemon::shared::known_files::FileListing;

/// Most files that one directory of a sparse index is searched for.
const MOST_FILES: usize = 100_000;

/// The files of memories outside the sparse checkout.
#[derive(Default)]
pub(super) struct FilesOutsideCheckout {
    blobs: BTreeMap<String, ObjectId>,
    objects: Option<Objects>,
}

impl FilesOutsideCheckout {
    /// Reads which files are outside; none if there is no sparse checkout.
    ///
    /// # Errors
    /// When git's index or its objects cannot be read.
    pub(super) fn read(layout: &RepoLayout) -> Result<Self, GitError> {
        let Some(SparseIndex { tracked, object_hash, .. }) = SparseIndex::read(layout)? else {
            return Ok(Self::default());
        };
        let mut outside = Self { objects: Objects::open(layout, object_hash)?, ..Self::default() };
        let dir = format!("{}/", file::DIR);
        for (path, is_outside, id) in tracked.paths_by_sparseness() {
            let Ok(path) = std::str::from_utf8(path) else { continue };
            if !is_outside {
                continue;
            }
            if let Some(name) = path.strip_prefix(&dir).filter(|name| !name.is_empty()) {
                outside.add_blob(name, id);
            } else if let Some(below) = dir.strip_prefix(path).filter(|_| path.ends_with('/')) {
                outside.add_directory(id, below)?;
            }
        }
        Ok(outside)
    }

    /// Adds the files of memories in a directory that a sparse index has as a whole; `below` is the way from it to the files.
    fn add_directory(&mut self, tree: ObjectId, below: &str) -> Result<(), GitError> {
        let Some(objects) = &self.objects else { return Ok(()) };
        let mut paths = Vec::new();
        objects.list_files_below(tree, "", (&mut paths, MOST_FILES))?;
        let mut found = Vec::new();
        for path in paths {
            let Some(name) = path.strip_prefix(below) else { continue };
            if let Some(entry) = objects.find_tree_entry(tree, &path)? {
                found.push((name.to_owned(), entry.id));
            }
        }
        found.into_iter().for_each(|(name, id)| self.add_blob(&name, id));
        Ok(())
    }

    fn add_blob(&mut self, name: &str, id: ObjectId) {
        if file::parse_file_name(name).is_ok() {
            self.blobs.insert(name.to_owned(), id);
        }
    }

    /// Adds the files to a listing, with the ids of their contents as signatures. A file that is in the worktree all the same stays.
    pub(super) fn add_to(&mut self, listing: &mut FileListing) {
        self.blobs.retain(|name, _| !listing.all_names().any(|known| known == name));
        for (name, id) in &self.blobs {
            let half = |from: usize| {
                id.as_slice()[from..from + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
            };
            let stat = Stat {
                size: 0,
                mtime_ns: 0,
                ctime_ns: 0,
                inode: half(0),
                dev: half(8),
                mode: Stat::COMMIT_MODE,
            };
            listing.files.insert(name.clone(), stat);
        }
    }

    /// Returns the content of a file; `None` if the file is not outside, or is too large for a memory.
    ///
    /// # Errors
    /// When the object is missing, as in a partial clone, or damaged.
    pub(super) fn read_file(&self, name: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Some((id, objects)) = self.blobs.get(name).zip(self.objects.as_ref()) else { return Ok(None) };
        objects.read_blob_at_most(*id, file::MAX_FILE_BYTES)
    }
}
