//! Keeps pending writes to files until they are done.
//!
//! A verb commits its rows together with the texts of their files, and then writes the files. If the daemon is killed in
//! between, the next look at the worktree writes them.

use memod_database::DatabaseError;
use rusqlite::params;

use super::super::MemoryRows;
use super::FileHash;

/// A file that is going to be written or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFile {
    /// Its name.
    pub name: String,
    /// Hash of its text before; `None` if there is no file. A file with another text is left alone.
    pub former: Option<FileHash>,
    /// The new text; `None`: it is removed.
    pub text: Option<String>,
}

impl MemoryRows<'_> {
    /// Stores a pending write to a file of the worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_pending_file(&self, file: &PendingFile) -> Result<(), DatabaseError> {
        self.run(|conn| {
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
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT name, former, text FROM pending_file WHERE worktree = memod_worktree() ORDER BY name",
            )?
            .query_map([], |row| {
                Ok(PendingFile { name: row.get(0)?, former: row.get(1)?, text: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Removes the pending writes of files that are written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_pending_files(&self, names: &[String]) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let sql = "DELETE FROM pending_file WHERE worktree = memod_worktree() AND name = ?1";
            let mut end = conn.prepare_cached(sql)?;
            names.iter().try_for_each(|name| end.execute([name]).map(drop))
        })
    }
}
