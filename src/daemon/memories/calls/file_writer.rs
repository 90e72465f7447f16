//! Writes the files of memories within a transaction: under temporary names before the commit, in place after it.
//!
//! Likely failures such as a full disk happen before the commit. If the daemon is killed after the commit, the database still
//! lists the pending files, and the next request that reads the files of the worktree writes them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use memod_memory::file::hash_file_text;
use memod_memory_db::{MemoryRows, MemoryStore, PendingFile};

use crate::daemon::memories::memory_files::place_files::{
    PlacedFiles, file_access_error, not_written_error, put_in_place, temporary_path, write_temporary_files,
};
use crate::daemon::memories::memory_files::plan_files::FilesBefore;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::JobResult;
use crate::daemon::memories::team_memories::queue_changes;
use crate::daemon::shared::known_files::FileCounters;

/// A number that no worktree has.
const NO_WORKTREE: i64 = 0;

/// The files that one transaction writes.
pub(in crate::daemon::memories) struct FileWriter {
    root: PathBuf,
    counters: FileCounters,
    prepared: RefCell<Vec<PendingFile>>,
}

impl FileWriter {
    pub(in crate::daemon::memories) fn new(root: &Path, counters: FileCounters) -> Self {
        Self { root: root.to_owned(), counters, prepared: RefCell::default() }
    }

    /// Runs a verb, writes the files that it changes under temporary names, and returns the value of the verb.
    pub(in crate::daemon::memories) fn run_verb<T>(
        &self,
        rows: &MemoryRows<'_>,
        stamp: &ChangeStamp,
        run: impl FnOnce() -> JobResult<T>,
    ) -> JobResult<T> {
        if self.counters.set_linked(rows.current_worktree()?) {
            rows.file_links().update_file_links()?; // so far the memories have the links of another worktree's files
        }
        let before = FilesBefore::read_rows(rows)?;
        let value = run()?;
        rows.version_visibility().update_shown_versions()?;
        queue_changes::queue_changed_memories(rows, before.last_change, stamp)?;
        let changes = before.plan_changes(rows, stamp)?;
        if changes.is_empty() {
            return Ok(value);
        }
        for file in &changes {
            rows.written_files().put_pending_file(file)?;
            rows.written_files()
                .record_written_file(&file.name, file.text.as_deref().map(hash_file_text).as_ref())?;
        }
        self.counters.note_write();
        *self.prepared.borrow_mut() = changes;
        write_temporary_files(&self.root, &self.prepared.borrow())
            .map_err(|error| file_access_error(&error))?;
        Ok(value)
    }

    /// Removes the temporary files of a transaction that failed.
    pub(in crate::daemon::memories) fn remove_prepared(&self) {
        self.counters.set_linked(NO_WORKTREE); // the rollback undid the links, so the next verb must update them
        for file in self.prepared.take() {
            let _ = fs::remove_file(temporary_path(&self.root, &file.name));
        }
    }

    /// Puts the temporary files of a committed transaction in place.
    pub(in crate::daemon::memories) fn put_prepared_files_in_place(
        &self,
        store: &mut MemoryStore,
        now_ms: i64,
    ) -> JobResult<()> {
        let files = self.prepared.take();
        if files.is_empty() {
            return Ok(());
        }
        let PlacedFiles { done, failed, was_edited } = put_in_place(&self.root, &files);
        self.counters.note_write(); // files may have been read before they were in place
        let mut ended = store.write(now_ms, |rows| Ok(rows.written_files().remove_pending_files(&done)?));
        if let (Ok(()), Some((_, error))) = (&ended, failed.first()) {
            ended = Err(not_written_error(error));
        }
        if was_edited {
            store.renew_generation();
        }
        ended.inspect_err(|_| store.renew_generation()) // so the next request tries again
    }
}
