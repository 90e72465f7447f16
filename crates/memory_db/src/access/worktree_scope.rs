//! Binds a connection to the worktree of a request.
//!
//! Shared memories are files, so each worktree may have different ones. The SQL function `memod_worktree()` returns the number of
//! the worktree whose memories a connection reads: 0 is the whole repository, [`whole_repository_scope`] returns the number for
//! the whole repository seen from one worktree, and -1 is an unknown worktree.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

/// Condition on `memory m`: the row belongs to the worktree of the request. Archived memories belong to no worktree. For the whole
/// repository, the condition selects one row of each memory: the version in the worktree from which the repository is seen, if
/// there is one. Where a private memory is archived, it also selects the version of a file. Private memories and those of the team
/// are tested first, because they are the most frequent.
pub(crate) const IS_IN_WORKTREE: &str = "CASE
     WHEN m.shared IN (0, 2) AND m.main IS NULL OR m.shared IN (3, 4) THEN 1
     WHEN memod_worktree() = 0 OR memod_worktree() < -1 THEN coalesce(
         m.row = (
             SELECT v.row FROM memory k CROSS JOIN memory v ON v.row = k.row OR v.main = k.row
             CROSS JOIN memory_file f ON f.memory = v.row
             WHERE k.row = coalesce(m.main, m.row) AND (k.shared NOT IN (0, 2) OR k.archived_at IS NOT NULL)
                 AND f.worktree = -1 - memod_worktree() AND f.side < 3
             ORDER BY f.side LIMIT 1),
         m.main IS NULL OR m.shared = 1 AND m.row = (
             SELECT min(v.row) FROM memory k CROSS JOIN memory v ON v.main = k.row
             WHERE k.row = m.main AND k.shared IN (0, 2) AND k.archived_at IS NOT NULL AND v.shared = 1))
     ELSE m.main IS NULL AND m.archived_at IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row
             WHERE v.main = m.row AND f.worktree = memod_worktree())
         OR EXISTS (SELECT 1 FROM memory_file f
             WHERE f.memory = m.row AND f.worktree = memod_worktree() AND f.side < 3)
     END";

/// The worktree whose memories a connection reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorktreeScope(Arc<AtomicI64>);

impl WorktreeScope {
    /// Adds the SQL function `memod_worktree()` to a connection.
    pub(crate) fn install_function(&self, conn: &Connection) -> rusqlite::Result<()> {
        let worktree = Arc::clone(&self.0);
        // The value is constant within a statement, which is all that `SQLITE_DETERMINISTIC` promises.
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        conn.create_scalar_function("memod_worktree", 0, flags, move |_| Ok(worktree.load(Ordering::Relaxed)))
    }

    /// Sets the number that `memod_worktree()` returns.
    pub(crate) fn set_worktree(&self, worktree: i64) {
        self.0.store(worktree, Ordering::Relaxed);
    }
}

/// Returns the scope number for the whole repository seen from a worktree: where several worktrees have versions of a memory, the
/// version of this worktree is read. Returns 0, the whole repository, if `worktree` is not the number of a worktree.
pub const fn whole_repository_scope(worktree: i64) -> i64 {
    if worktree > 0 { -1 - worktree } else { 0 }
}
