//! Stores the worktrees whose files are known.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use crate::access::row_access::row_handle;

row_handle! {
    /// Worktrees whose files are known.
    pub struct WorktreeRows {}
}

/// A worktree whose files of memories are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRow {
    /// Its number, which is never used again.
    pub number: i64,
    /// Its git dir, from the common dir; empty for the main worktree.
    pub git_dir: String,
    /// Its top, at the last look at its files.
    pub root: Option<String>,
    /// Creation time of its git dir, ns since the epoch.
    pub made_ns: Option<i64>,
}

impl WorktreeRows<'_> {
    /// Returns the number of a worktree by its git dir, from the common dir.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn worktree_number(&self, git_dir: &str) -> Result<i64, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("INSERT OR IGNORE INTO worktree(git_dir) VALUES(?1)")?.execute([git_dir])?;
            conn.prepare_cached("SELECT id FROM worktree WHERE git_dir = ?1")?
                .query_row([git_dir], |row| row.get(0))
        })
    }

    /// Returns the known worktrees.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_worktrees(&self) -> Result<Vec<WorktreeRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT id, git_dir, root, made_ns FROM worktree")?
                .query_map([], |row| {
                    Ok(WorktreeRow {
                        number: row.get(0)?,
                        git_dir: row.get(1)?,
                        root: row.get(2)?,
                        made_ns: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    /// Records the location of the request's worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_worktree_location(&self, root: &str, made_ns: i64) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("UPDATE worktree SET root = ?1, made_ns = ?2 WHERE id = memod_worktree()")?
                .execute(params![root, made_ns])
                .map(drop)
        })
    }

    /// Returns whether the request's worktree is unknown: none of its files was ever read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_without_worktree(&self) -> Result<bool, DatabaseError> {
        Ok(self.access.current_worktree()? < 1)
    }

    /// Returns the first living memory with this prefix of an id that only other worktrees have, and the location of one of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_in_other_worktree(&self, beginning: &str) -> Result<Option<(String, String)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.id, coalesce(w.root, nullif(w.git_dir, ''), 'the main worktree') FROM memory m
                 CROSS JOIN memory v ON v.row = m.row OR v.main = m.row
                 CROSS JOIN memory_file f ON f.memory = v.row JOIN worktree w ON w.id = f.worktree
                 WHERE m.id >= ?1 AND m.id < ?1 || '~' AND m.main IS NULL AND m.shared = 1 AND m.archived_at IS NULL
                 ORDER BY m.id, w.id LIMIT 1",
            )?
            .query_row([beginning], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
        })
    }
}
