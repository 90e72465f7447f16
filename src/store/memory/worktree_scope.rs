//! Binds a connection to the worktree of a request.
//!
//! Shared memories are files, so worktrees have different ones. The SQL function `memod_worktree()` returns the worktree of
//! which a connection reads; 0 stands for the whole repository.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

/// Condition on `memory m`: the worktree of the request has it. Archived memories are of no worktree. Without a worktree each
/// memory is there once, and beside what this user has of it in the archive what a file says. What is this user's alone, and what the
/// team has, comes first: it is the most.
pub(super) const IS_HERE: &str = "CASE
     WHEN m.shared IN (0, 2) AND m.main IS NULL OR m.shared IN (3, 4) THEN 1
     WHEN memod_worktree() = 0 THEN m.main IS NULL OR m.shared = 1 AND m.row = (
         SELECT min(v.row) FROM memory k CROSS JOIN memory v ON v.main = k.row
         WHERE k.row = m.main AND k.shared IN (0, 2) AND k.archived_at IS NOT NULL AND v.shared = 1)
     ELSE m.main IS NULL AND m.archived_at IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row
             WHERE v.main = m.row AND f.worktree = memod_worktree())
         OR EXISTS (SELECT 1 FROM memory_file f
             WHERE f.memory = m.row AND f.worktree = memod_worktree() AND f.side < 3)
     END";

/// The worktree of which a connection reads.
#[derive(Clone, Debug, Default)]
pub(super) struct WorktreeScope(Arc<AtomicI64>);

impl WorktreeScope {
    /// Adds the function to a connection.
    pub(super) fn install(&self, conn: &Connection) -> rusqlite::Result<()> {
        let worktree = Arc::clone(&self.0);
        // Of one value within a statement, which is all that the flag promises.
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        conn.create_scalar_function("memod_worktree", 0, flags, move |_| Ok(worktree.load(Ordering::Relaxed)))
    }

    pub(super) fn set(&self, worktree: i64) {
        self.0.store(worktree, Ordering::Relaxed);
    }
}
