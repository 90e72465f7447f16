//! Finds the former name of a file.

use std::path::Path;
use std::time::Instant;

use gix::ObjectId;
use memod_base::types::{file_name, parent_dir};

use super::changes::{PathChange, TreeChanges};
use super::line_map::{MIN_SIMILARITY_PERCENT, similarity_percent};
use crate::git_error::GitError;
use crate::objects::{Objects, TreeEntry};

/// Most changes of a commit that are searched for a former name.
const MOST_CHANGES: usize = 5_000;
/// Most removed files that are compared with an added file by content.
const MOST_COMPARED: usize = 200;
/// Smallest file that counts as replaced by another one, in bytes; git's `MINIMUM_BREAK_SIZE` in diffcore.h.
const LEAST_REPLACED_BYTES: usize = 400;
/// Largest file that is compared by content, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The former name of a file.
#[derive(Debug, Default)]
pub(super) struct FormerName {
    /// The name and the tree entry, if a former name was found.
    pub(super) found: Option<(String, TreeEntry)>,
    /// Why the file may have a former name that was not found: a limit was reached.
    pub(super) cut: Option<String>,
}

impl Objects {
    /// Returns the name that a renamed file had in a tree: of the tree's files for which `is_gone` returns true, the name of
    /// the one that shares most lines with `text`, at least half. Compares only as many files as it can before the deadline
    /// `until`.
    ///
    /// # Errors
    /// When the tree is missing or damaged.
    pub fn find_former_name_in_tree(
        &self,
        tree: ObjectId,
        (path, text): (&str, &[u8]),
        is_gone: impl Fn(&str) -> bool,
        until: Instant,
    ) -> Result<Option<String>, GitError> {
        let files =
            self.list_tree_files_until(tree, Some(until))?.into_iter().take_while(|_| Instant::now() < until);
        let mut gone: Vec<(String, TreeEntry)> =
            files.filter(|(old, entry)| entry.is_file() && is_gone(old)).collect();
        gone.sort_by_key(|(old, _)| file_name(old) != file_name(path));
        let gone = gone.into_iter().take(MOST_COMPARED).take_while(|_| Instant::now() < until);
        let compared = gone.filter_map(|(old, entry)| {
            let was = self.read_blob_at_most(entry.id, MOST_BYTES).ok().flatten()?;
            Some((similarity_percent(&was, text), old))
        });
        let alike = compared.filter(|(share, _)| *share >= MIN_SIMILARITY_PERCENT);
        // Of equally similar files the first counts; files with the same file name come first.
        Ok(alike.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, old)| old))
    }

    /// Returns the name in the tree `old` of a file that only the tree `new` has: the name of the removed file with the same
    /// content, or else of the removed file that shares most lines with it, at least half.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub(super) fn find_former_name(
        &self,
        old: ObjectId,
        new: ObjectId,
        path: &str,
        added: TreeEntry,
    ) -> Result<FormerName, GitError> {
        let TreeChanges { paths, total } = self.compare_trees(Some(old), new, MOST_CHANGES)?;
        if total > paths.len() {
            let cut = Some(format!("{total} files differ"));
            return Ok(FormerName { found: None, cut });
        }
        Ok(self.find_renamed_file(&paths, path, added))
    }

    /// Returns the removed file among `changes` from which the added file at `path` was renamed.
    fn find_renamed_file(&self, changes: &[PathChange], path: &str, added: TreeEntry) -> FormerName {
        let gone = changes.iter().filter(|change| change.new.is_none());
        let gone = gone.filter_map(|change| Some((&change.path, change.old.filter(TreeEntry::is_file)?)));
        let mut removed: Vec<(&String, TreeEntry)> = gone.collect();
        // Of several files with the same content, the one with the same file name or directory counts; git prefers the same
        // file name too.
        let same = removed.iter().filter(|(_, entry)| entry.id == added.id);
        if let Some(same) = same
            .min_by_key(|(old, _)| (file_name(old) != file_name(path), parent_dir(old) != parent_dir(path)))
        {
            return FormerName { found: Some((same.0.clone(), same.1)), cut: None };
        }
        let Some(text) = self.read_blob_at_most(added.id, MOST_BYTES).ok().flatten() else {
            return FormerName::default();
        };
        // A moved file usually keeps its file name, so files with the same file name come first.
        removed.sort_by_key(|(old, _)| file_name(old) != file_name(path));
        let compared = removed.iter().take(MOST_COMPARED).map(|old| (self.similarity_to(old.1, &text), *old));
        let best =
            compared.filter(|(share, _)| *share >= MIN_SIMILARITY_PERCENT).max_by_key(|(share, _)| *share);
        let is_cut = best.is_none() && removed.len() > MOST_COMPARED;
        let cut = is_cut.then(|| format!("{} files were removed", removed.len()));
        let found = best.map(|(_, (path, entry))| (path.clone(), entry));
        FormerName { found: found.or_else(|| self.find_replaced_file(changes, path, &text)), cut }
    }

    /// Returns the changed file from which an added file was renamed, if the same commit has put another file in its place: its
    /// former text is similar to the added one, and not to its present one. This is what `git diff -B -M` finds.
    fn find_replaced_file(
        &self,
        changes: &[PathChange],
        path: &str,
        text: &[u8],
    ) -> Option<(String, TreeEntry)> {
        let ending = Path::new(path).extension();
        let changed = changes.iter().filter(|change| Path::new(&change.path).extension() == ending);
        let changed = changed.filter_map(|change| Some((change, change.old?, change.new?)));
        let replaced = changed.filter(|(_, old, _)| old.is_file()).take(MOST_COMPARED);
        let alike = replaced.filter_map(|(change, old, new)| {
            let was = self.read_blob_at_most(old.id, MOST_BYTES).ok().flatten()?;
            let share = similarity_percent(&was, text);
            let is_renamed = share >= MIN_SIMILARITY_PERCENT
                && was.len() >= LEAST_REPLACED_BYTES
                && (!new.is_file() || self.similarity_to(new, &was) < MIN_SIMILARITY_PERCENT);
            is_renamed.then(|| (share, (change.path.clone(), old)))
        });
        alike.max_by_key(|(share, _)| *share).map(|(_, found)| found)
    }

    /// Returns the similarity of a file to a text, 0 to 100; 0 if the file cannot be read.
    fn similarity_to(&self, entry: TreeEntry, text: &[u8]) -> usize {
        let old = self.read_blob_at_most(entry.id, MOST_BYTES).ok().flatten();
        old.map_or(0, |old| similarity_percent(&old, text))
    }
}
