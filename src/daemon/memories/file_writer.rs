//! Writes the files of memories to the disk: aside before a transaction is committed, in place after it.
//!
//! What can fail, as on a full disk, fails before the commit. If the daemon is killed after it, the next look finds in the rows
//! what is to be written.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use memod_memory::file::hash;
use memod_memory_db::{MemoryStore, PendingFile, Rows};

use super::file_disk::{Placed, aside, failed, not_written, place, prepare};
use super::file_write::Before;
use super::known_files::FileCounters;
use super::rules::Done;
use super::stamp::Stamp;
use super::team_write;

/// No worktree has this number.
const NO_WORKTREE: i64 = 0;

/// The files that one transaction writes.
pub(super) struct FileWriter {
    root: PathBuf,
    counters: FileCounters,
    prepared: RefCell<Vec<PendingFile>>,
}

impl FileWriter {
    pub(super) fn new(root: &Path, counters: FileCounters) -> Self {
        Self { root: root.to_owned(), counters, prepared: RefCell::default() }
    }

    /// Runs a verb, and writes aside the files that it has changed.
    pub(super) fn changed<T>(
        &self,
        rows: &Rows<'_>,
        stamp: &Stamp,
        run: impl FnOnce() -> Done<T>,
    ) -> Done<T> {
        if self.counters.set_linked(rows.worktree()?) {
            rows.link_files()?; // as this worktree says, not another one
        }
        let before = Before::of(rows)?;
        let value = run()?;
        rows.settle_own()?;
        team_write::queue(rows, before.last_change, stamp)?;
        let changes = before.changes(rows, stamp)?;
        if changes.is_empty() {
            return Ok(value);
        }
        for file in &changes {
            rows.put_pending(file)?;
            rows.note_written(&file.name, file.text.as_deref().map(hash).as_ref())?;
        }
        self.counters.note_write();
        *self.prepared.borrow_mut() = changes;
        prepare(&self.root, &self.prepared.borrow()).map_err(|error| failed(&error))?;
        Ok(value)
    }

    /// Removes what was written aside for a transaction that failed.
    pub(super) fn undo(&self) {
        self.counters.set_linked(NO_WORKTREE); // the links are as before
        for file in self.prepared.take() {
            let _ = fs::remove_file(aside(&self.root, &file.name));
        }
    }

    /// Puts in place what a committed transaction has written aside.
    pub(super) fn finish(&self, store: &mut MemoryStore, now_ms: i64) -> Done<()> {
        let files = self.prepared.take();
        if files.is_empty() {
            return Ok(());
        }
        let Placed { done, failed, was_edited } = place(&self.root, &files);
        self.counters.note_write(); // what was read in between may be of before
        let mut ended = store.write(now_ms, |rows| Ok(rows.end_pending(&done)?));
        if let (Ok(()), Some((_, error))) = (&ended, failed.first()) {
            ended = Err(not_written(error));
        }
        if was_edited {
            store.forget_looks();
        }
        ended.inspect_err(|_| store.forget_looks()) // the next look tries again
    }
}
