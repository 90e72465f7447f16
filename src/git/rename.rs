//! Finds the former name of a file.

use gix::ObjectId;

use super::line_map::{ALIKE, likeness};
use super::{Changes, GitError, Objects, PathChange, TreeEntry};

/// Most changes of a commit that are searched for a former name.
const MOST_CHANGES: usize = 5_000;
/// Most removed files that are compared with an added one by content …
const MOST_COMPARED: usize = 200;
/// … and their maximum size, bytes.
const MOST_BYTES: u64 = 1 << 20;

impl Objects {
    /// Returns the name in `old` of a file that only `new` has: that of the removed file with the same content, or else of
    /// the one that shares most lines, at least half.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub(super) fn former_name(
        &self,
        old: ObjectId,
        new: ObjectId,
        added: TreeEntry,
    ) -> Result<Option<(String, TreeEntry)>, GitError> {
        let Changes { paths, total } = self.changes(Some(old), new, MOST_CHANGES)?;
        if total > paths.len() {
            return Ok(None);
        }
        Ok(self.most_alike(&paths, added))
    }

    /// Returns the removed file among `changes` that an added one was made from.
    fn most_alike(&self, changes: &[PathChange], added: TreeEntry) -> Option<(String, TreeEntry)> {
        let removed = || {
            let gone = changes.iter().filter(|change| change.new.is_none());
            gone.filter_map(|change| Some((&change.path, change.old.filter(TreeEntry::is_file)?)))
        };
        if let Some((path, entry)) = removed().find(|(_, entry)| entry.id == added.id) {
            return Some((path.clone(), entry));
        }
        let text = self.blob(added.id, MOST_BYTES).ok()??;
        let share = |entry: &TreeEntry| {
            let old = self.blob(entry.id, MOST_BYTES).ok().flatten();
            old.map_or(0, |old| likeness(&old, &text))
        };
        let compared = removed().take(MOST_COMPARED).map(|(path, entry)| (share(&entry), path, entry));
        let best = compared.filter(|(share, ..)| *share >= ALIKE).max_by_key(|(share, ..)| *share);
        best.map(|(_, path, entry)| (path.clone(), entry))
    }
}
