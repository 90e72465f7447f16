//! Decides which files of worktrees are restored with a backup.
//!
//! What a verb has written or removed since is undone. What git, an editor or a person has changed stays: the file is the truth,
//! and may be of another branch.

use std::collections::{BTreeSet, HashMap};

use memod_database::DatabaseError;

use super::super::files::{FilePlace, KnownFile};
use super::super::{MemoryDb, PendingFile, Rows, WorktreeRow};
use super::FileText;

/// A file that is to be as a backup has it.
#[derive(Debug)]
struct FileChange {
    place: FilePlace,
    /// Hash of the text that is there now.
    former: Option<[u8; 32]>,
    then: Option<KnownFile>,
}

/// What becomes of the files of worktrees when a backup is restored.
#[derive(Debug, Default)]
pub(super) struct FilePlan {
    changes: Vec<FileChange>,
    /// Ids of memories whose files stay as somebody else has made them.
    pub(super) kept: BTreeSet<String>,
    /// Number of files that the backup has, and that somebody else has removed.
    pub(super) n_gone: u64,
    written: HashMap<FilePlace, Option<[u8; 32]>>,
    worktrees: Vec<WorktreeRow>,
}

impl FilePlan {
    /// Compares what is here with a backup.
    pub(super) fn of(here: &MemoryDb, there: &MemoryDb) -> Result<Self, DatabaseError> {
        let (now, written, worktrees) = here.read(0, |rows| {
            Ok::<_, DatabaseError>((rows.known_files()?, rows.written_files()?, rows.worktrees()?))
        })?;
        let (then, former) =
            there.read(0, |rows| Ok::<_, DatabaseError>((rows.known_files()?, rows.worktrees()?)))?;
        let is_same = |git_dir: &str| {
            let of =
                |rows: &[WorktreeRow]| rows.iter().find(|row| row.git_dir == git_dir).map(|row| row.made_ns);
            // A linked worktree that is another one by now has the files of its own branch.
            of(&worktrees).is_some_and(|made_ns| of(&former).is_none_or(|former| former == made_ns))
        };
        let mut plan = Self::default();
        let places: BTreeSet<&FilePlace> = now.keys().chain(then.keys()).collect();
        for place in places.into_iter().filter(|place| is_same(&place.0)) {
            let (now, then) = (now.get(place).copied(), then.get(place).copied());
            // Its row may have gone with the memory while the file is there.
            let hash_now = now.map(|file| file.hash).or_else(|| written.get(place).copied().flatten());
            if hash_now == then.map(|file| file.hash) || then.is_some_and(|file| file.row.is_none()) {
                continue;
            }
            if written.get(place) == Some(&hash_now) {
                plan.changes.push(FileChange { place: place.clone(), former: hash_now, then });
            } else if hash_now.is_some() {
                plan.kept.insert(place.1.trim_end_matches(".md").to_owned());
            } else {
                plan.n_gone += 1;
            }
        }
        (plan.written, plan.worktrees) = (written, worktrees);
        Ok(plan)
    }

    /// Returns how many files are written, and how many are removed.
    pub(super) fn counts(&self) -> (u64, u64) {
        let n_written = self.changes.iter().filter(|change| change.then.is_some()).count() as u64;
        (n_written, self.changes.len() as u64 - n_written)
    }

    /// Records in a backup which files are to be written; the next look at each worktree writes them.
    pub(super) fn apply(&self, rows: &Rows<'_>, text: FileText) -> Result<(), DatabaseError> {
        for worktree in &self.worktrees {
            rows.enter_worktree(rows.worktree_number(&worktree.git_dir)?);
            if let (Some(root), Some(made_ns)) = (&worktree.root, worktree.made_ns) {
                rows.set_worktree_place(root, made_ns)?;
            }
        }
        rows.set_written_files(&self.written)?;
        for change in &self.changes {
            rows.enter_worktree(rows.worktree_number(&change.place.0)?);
            change.apply(rows, text)?;
        }
        rows.enter_worktree(0);
        rows.drop_unshown()
    }
}

impl FileChange {
    fn apply(&self, rows: &Rows<'_>, text: FileText) -> Result<(), DatabaseError> {
        let name = self.place.1.clone();
        let mut new = None;
        if let Some((file, row)) = self.then.and_then(|file| Some((file, file.row?))) {
            let ours = rows.said_by_file(row)?;
            let theirs = file.theirs.map(|row| rows.said_by_file(row)).transpose()?;
            let conflict = theirs.and_then(|theirs| text(&ours, Some(&theirs)));
            let is_conflict = conflict.is_some();
            // What others may not have any more is in the archive, without a file.
            let Some((text, hash)) = conflict.or_else(|| text(&ours, None)) else { return Ok(()) };
            if is_conflict {
                rows.set_conflict_hash(&name, &hash)?;
            } else if hash != file.hash {
                rows.set_file_text(&name, row, &hash)?;
            }
            new = Some((text, hash));
        }
        rows.note_written(&name, new.as_ref().map(|(_, hash)| hash))?;
        rows.put_pending(&PendingFile { name, former: self.former, text: new.map(|(text, _)| text) })
    }
}
