//! Records the writes of verbs to memory files of worktrees: pending writes, and the last write to each file.
//!
//! Restoring a backup undoes later changes by verbs, but not changes by git or an editor.

use std::collections::{BTreeMap, HashMap};

use memod_database::DatabaseError;
use rusqlite::params;

use crate::access::row_access::row_handle;
use crate::records::file_version::FileHash;

row_handle! {
    /// Records of memory files that verbs write, before and after the write.
    pub struct WrittenFiles {}
}

/// A file that is going to be written or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFile {
    /// Name of the file.
    pub name: String,
    /// Hash of the file's text before; `None` if there is no file. A file with another text is not written.
    pub former: Option<FileHash>,
    /// The new text; `None` to remove the file.
    pub text: Option<String>,
}

/// A file of a worktree: the worktree's git dir, relative to the common dir, and the name of the file.
pub(crate) type WorktreeFileKey = (String, String);

/// The stored state of a worktree's memory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredFileState {
    /// Hash of the file's text.
    pub(crate) hash: FileHash,
    /// The number of the row that the file shows, our side in a conflict in git; `None` if the file shows no memory.
    pub(crate) row: Option<i64>,
    /// The number of the row of the other side of a conflict in git.
    pub(crate) theirs: Option<i64>,
}

impl WrittenFiles<'_> {
    /// Records the hash of the text that a verb is about to write to a file of the worktree; `None` for a removal.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_written_file(&self, name: &str, hash: Option<&FileHash>) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO written_file VALUES(memod_worktree(), ?1, ?2)")?
                .execute(params![name, hash])
                .map(drop)
        })
    }

    /// Deletes the record of a verb's last write to a file of the worktree, unless the file still has the written text. `present`
    /// is the hash of the file; `None` if there is no file.
    pub(crate) fn forget_written_file(
        &self,
        name: &str,
        present: Option<&FileHash>,
    ) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM written_file WHERE worktree = memod_worktree() AND name = ?1 AND hash IS NOT ?2",
            )?
            .execute(params![name, present])
            .map(drop)
        })
    }

    /// Returns the stored state of the memory files of all worktrees.
    pub(crate) fn list_known_files(
        &self,
    ) -> Result<BTreeMap<WorktreeFileKey, StoredFileState>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare(
                // With `min`, SQLite takes the other columns from the row with the least side.
                "SELECT w.git_dir, f.name, f.hash, f.memory, t.memory, min(f.side)
                 FROM memory_file f JOIN worktree w ON w.id = f.worktree
                 LEFT JOIN memory_file t ON t.worktree = f.worktree AND t.name = f.name AND f.side = 1 AND t.side = 2
                 GROUP BY f.worktree, f.name",
            )?
            .query_map([], |row| {
                let file = StoredFileState { hash: row.get(2)?, row: row.get(3)?, theirs: row.get(4)? };
                Ok(((row.get(0)?, row.get(1)?), file))
            })?
            .collect()
        })
    }

    /// Returns the hashes that verbs last wrote to files of all worktrees; `None` for a removal.
    pub(crate) fn list_written_files(
        &self,
    ) -> Result<HashMap<WorktreeFileKey, Option<FileHash>>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare(
                "SELECT w.git_dir, f.name, f.hash FROM written_file f JOIN worktree w ON w.id = f.worktree",
            )?
            .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
            .collect()
        })
    }

    /// Replaces the records of verbs' last writes, and deletes pending writes. The worktrees must be stored already.
    pub(crate) fn replace_written_files(
        &self,
        written: &HashMap<WorktreeFileKey, Option<FileHash>>,
    ) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.execute_batch("DELETE FROM written_file; DELETE FROM pending_file")?;
            let mut put =
                conn.prepare("INSERT INTO written_file SELECT id, ?2, ?3 FROM worktree WHERE git_dir = ?1")?;
            let mut written = written.iter();
            written
                .try_for_each(|((git_dir, name), hash)| put.execute(params![git_dir, name, hash]).map(drop))
        })
    }

    /// Records the hash of a file of the worktree that is in conflict and shows two rows.
    pub(crate) fn set_conflict_hash(&self, name: &str, hash: &FileHash) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.execute(
                "UPDATE memory_file SET hash = ?2 WHERE worktree = memod_worktree() AND name = ?1",
                params![name, hash],
            )
            .map(drop)
        })
    }

    /// Returns whether a verb has removed a file of the worktree, and the file was not written since.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_removed_by_verb(&self, name: &str) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM written_file WHERE worktree = memod_worktree() AND name = ?1 AND hash IS NULL",
            )?
            .exists([name])
        })
    }

    /// Records that a file of the worktree shows only the row with this number, and has a text with this hash. A conflict in git
    /// ends with our side.
    pub(crate) fn set_shown_row(&self, name: &str, row: i64, hash: &FileHash) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            // If this user trusts the row's version, the new text is trusted, too: only comments may differ.
            conn.execute(
                "INSERT OR IGNORE INTO trusted_version SELECT t.memory, ?2 FROM memory m
                 JOIN trusted_version t ON t.memory = coalesce(m.main, m.row) AND t.hash = m.version WHERE m.row = ?1",
                params![row, hash],
            )?;
            conn.execute("UPDATE memory SET version = ?2 WHERE row = ?1", params![row, hash])?;
            conn.execute(
                "DELETE FROM memory_file WHERE worktree = memod_worktree() AND name = ?1 AND memory IS NOT ?2",
                params![name, row],
            )?;
            conn.execute(
                "UPDATE memory_file SET hash = ?2, side = iif(side = 1, 0, side)
                 WHERE worktree = memod_worktree() AND name = ?1",
                params![name, hash],
            )
            .map(drop)
        })
    }

    /// Stores a pending write to a file of the worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_pending_file(&self, file: &PendingFile) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO pending_file VALUES(memod_worktree(), ?1, ?2, ?3)")?
                .execute(params![file.name, file.former, file.text])
                .map(drop)
        })
    }

    /// Returns the pending writes to files of the worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_pending_files(&self) -> Result<Vec<PendingFile>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT name, former, text FROM pending_file WHERE worktree = memod_worktree() ORDER BY name",
            )?
            .query_map([], |row| {
                Ok(PendingFile { name: row.get(0)?, former: row.get(1)?, text: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Removes the pending writes to files of the worktree that have been written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_pending_files(&self, names: &[String]) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            let sql = "DELETE FROM pending_file WHERE worktree = memod_worktree() AND name = ?1";
            let mut end = conn.prepare_cached(sql)?;
            names.iter().try_for_each(|name| end.execute([name]).map(drop))
        })
    }
}
