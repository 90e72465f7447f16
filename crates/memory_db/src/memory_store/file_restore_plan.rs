//! Decides which files of worktrees are restored with a backup.
//!
//! Writes and removals by verbs since the backup are undone. Changes by git or an editor stay: the file is the truth, and may
//! belong to another branch.

use std::collections::{BTreeSet, HashMap};

use memod_database::DatabaseError;

use crate::database::open_database::MemoryDb;
use crate::files::worktree_rows::KnownWorktree;
use crate::files::written_files::{PendingFile, StoredFileState, WorktreeFileKey};
use crate::memory_rows::MemoryRows;
use crate::records::record_functions::RenderFileText;

/// A file that is to get the state that it has in the backup.
#[derive(Debug)]
struct PlannedFileChange {
    place: WorktreeFileKey,
    /// Hash of the file's present text; `None` if there is no file.
    former: Option<[u8; 32]>,
    /// State of the file in the backup; `None` if the file is to be removed.
    in_backup: Option<StoredFileState>,
}

/// The changes to files of worktrees when a backup is restored.
#[derive(Debug, Default)]
pub(super) struct FileRestorePlan {
    changes: Vec<PlannedFileChange>,
    /// Ids of memories whose files stay, because git or an editor has changed them.
    pub(super) kept_ids: BTreeSet<String>,
    /// Number of files in the backup that git or an editor has removed.
    pub(super) n_removed_outside: u64,
    /// The hashes that verbs last wrote to files, in the present database.
    written: HashMap<WorktreeFileKey, Option<[u8; 32]>>,
    /// The worktrees of the present database.
    worktrees: Vec<KnownWorktree>,
}

impl FileRestorePlan {
    /// Compares the present files with those of a backup, and returns the changes to make.
    pub(super) fn plan_changes(present: &MemoryDb, backup: &MemoryDb) -> Result<Self, DatabaseError> {
        let (now, written, worktrees) = present.read(0, |rows| {
            Ok::<_, DatabaseError>((
                rows.written_files().list_known_files()?,
                rows.written_files().list_written_files()?,
                rows.worktrees().list_worktrees()?,
            ))
        })?;
        let (then, former) = backup.read(0, |rows| {
            Ok::<_, DatabaseError>((
                rows.written_files().list_known_files()?,
                rows.worktrees().list_worktrees()?,
            ))
        })?;
        let mut plan = Self::default();
        let places: BTreeSet<&WorktreeFileKey> = now.keys().chain(then.keys()).collect();
        for place in places.into_iter().filter(|place| is_same_worktree(&worktrees, &former, &place.0)) {
            let (now, then) = (now.get(place).copied(), then.get(place).copied());
            // The row of the file may have been deleted with the memory while the file still exists.
            let hash_now = now.map(|file| file.hash).or_else(|| written.get(place).copied().flatten());
            if hash_now == then.map(|file| file.hash) || then.is_some_and(|file| file.row.is_none()) {
                continue;
            }
            if written.get(place) == Some(&hash_now) {
                plan.changes.push(PlannedFileChange {
                    place: place.clone(),
                    former: hash_now,
                    in_backup: then,
                });
            } else if hash_now.is_some() {
                plan.kept_ids.insert(place.1.trim_end_matches(".md").to_owned());
            } else {
                plan.n_removed_outside += 1;
            }
        }
        (plan.written, plan.worktrees) = (written, worktrees);
        Ok(plan)
    }

    /// Returns the numbers of files to write and to remove.
    pub(super) fn count_changes(&self) -> (u64, u64) {
        let n_written = self.changes.iter().filter(|change| change.in_backup.is_some()).count() as u64;
        (n_written, self.changes.len() as u64 - n_written)
    }

    /// Records the changes as pending writes in the copy of the backup. They are carried out when the files of each worktree are
    /// next read.
    pub(super) fn record_changes(
        &self,
        rows: &MemoryRows<'_>,
        text: RenderFileText,
    ) -> Result<(), DatabaseError> {
        for worktree in &self.worktrees {
            rows.select_worktree(rows.worktrees().find_or_add_worktree(&worktree.git_dir)?);
            if let (Some(root), Some(made_ns)) = (&worktree.root, worktree.made_ns) {
                rows.worktrees().set_worktree_location(root, made_ns)?;
            }
        }
        rows.written_files().replace_written_files(&self.written)?;
        for change in &self.changes {
            rows.select_worktree(rows.worktrees().find_or_add_worktree(&change.place.0)?);
            change.record_pending_write(rows, text)?;
        }
        rows.select_worktree(0);
        rows.files().delete_unshown_rows()
    }
}

/// Returns whether the worktree with this git dir existed already when the backup was made, or is not in the backup. A new worktree
/// under the same name has the files of its own branch.
fn is_same_worktree(worktrees: &[KnownWorktree], former: &[KnownWorktree], git_dir: &str) -> bool {
    let [present, former] =
        [worktrees, former].map(|rows| rows.iter().find(|row| row.git_dir == git_dir).map(|row| row.made_ns));
    present.is_some_and(|made_ns| former.is_none_or(|former| former == made_ns))
}

impl PlannedFileChange {
    /// Records the change as a pending write, with the rows that the file will show.
    fn record_pending_write(&self, rows: &MemoryRows<'_>, text: RenderFileText) -> Result<(), DatabaseError> {
        let name = self.place.1.clone();
        let mut new = None;
        if let Some((file, row)) = self.in_backup.and_then(|file| Some((file, file.row?))) {
            let ours = rows.versions().read_file_memory(row)?;
            let theirs = file.theirs.map(|row| rows.versions().read_file_memory(row)).transpose()?;
            let conflict = theirs.and_then(|theirs| text(&ours, Some(&theirs)));
            let is_conflict = conflict.is_some();
            // A memory that must not be shared gets no file.
            let Some((text, hash)) = conflict.or_else(|| text(&ours, None)) else { return Ok(()) };
            if is_conflict {
                rows.written_files().set_conflict_hash(&name, &hash)?;
            } else if hash != file.hash {
                rows.written_files().set_shown_row(&name, row, &hash)?;
            }
            new = Some((text, hash));
        }
        rows.written_files().record_written_file(&name, new.as_ref().map(|(_, hash)| hash))?;
        rows.written_files().put_pending_file(&PendingFile {
            name,
            former: self.former,
            text: new.map(|(text, _)| text),
        })
    }
}
