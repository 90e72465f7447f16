//! Keeps what is to be written to files until it is there.
//!
//! A verb commits its rows together with the files that they ask for, and then writes those. If the daemon is killed in
//! between, the next look at the worktree writes them.

use memod_database::DatabaseError;
use rusqlite::params;

use super::super::Rows;
use super::Hash;

/// A file that is going to be written or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFile {
    /// Its name.
    pub name: String,
    /// Hash of the text that it has before; `None` if there is no file. Another text is left alone.
    pub former: Option<Hash>,
    /// The new text; `None`: it is removed.
    pub text: Option<String>,
}

impl Rows<'_> {
    /// Stores what is to be written to a file of the worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_pending(&self, file: &PendingFile) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO pending_file VALUES(memod_worktree(), ?1, ?2, ?3)")?
                .execute(params![file.name, file.former, file.text])
                .map(drop)
        })
    }

    /// Returns what is to be written to files of the worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pending(&self) -> Result<Vec<PendingFile>, DatabaseError> {
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

    /// Records that files of the worktree are written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_pending(&self, names: &[String]) -> Result<(), DatabaseError> {
        self.run(|conn| {
            let sql = "DELETE FROM pending_file WHERE worktree = memod_worktree() AND name = ?1";
            let mut end = conn.prepare_cached(sql)?;
            names.iter().try_for_each(|name| end.execute([name]).map(drop))
        })
    }
}
