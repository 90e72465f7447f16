//! Stores the worktrees whose memory files have been read.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use crate::access::row_access::row_handle;

row_handle! {
    /// Worktrees whose memory files have been read.
    pub struct WorktreeRows {}
}

/// A worktree whose memory files have been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownWorktree {
    /// Number of the worktree; no other worktree ever gets it.
    pub number: i64,
    /// Git dir of the worktree, relative to the common dir; empty for the main worktree.
    pub git_dir: String,
    /// Top of the worktree when its files were last read.
    pub root: Option<String>,
    /// Creation time of the git dir, ns since the epoch.
    pub made_ns: Option<i64>,
}

impl WorktreeRows<'_> {
    /// Returns the number of the worktree with a git dir, relative to the common dir. Stores the worktree if it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn find_or_add_worktree(&self, git_dir: &str) -> Result<i64, DatabaseError> {
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
    pub fn list_worktrees(&self) -> Result<Vec<KnownWorktree>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT id, git_dir, root, made_ns FROM worktree")?
                .query_map([], |row| {
                    Ok(KnownWorktree {
                        number: row.get(0)?,
                        git_dir: row.get(1)?,
                        root: row.get(2)?,
                        made_ns: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    /// Stores the top of the request's worktree, and the creation time of its git dir, ns since the epoch.
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

    /// Returns whether no single worktree is selected: the request is about the whole repository, or its worktree is unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_worktree_unselected(&self) -> Result<bool, DatabaseError> {
        Ok(self.access.current_worktree()? < 1)
    }

    /// Returns the id of the first living, shared memory whose id has this prefix, and the top of a worktree that has the memory.
    /// The caller has found no such memory in the request's worktree.
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
