//! Passes changed vectors to a copy of them in memory.

use std::path::Path;

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use rusqlite::{DropBehavior, OpenFlags};

use crate::database::open_database::MemoryDb;
use crate::memory_rows::MemoryRows;
use crate::search_arms::vector_rows::VectorModel;

/// An update for a copy of the vectors of living memories.
pub enum VectorChanges {
    /// A database was opened, or another model answers: drop all vectors, and read through this connection from now on.
    All(Box<MemoryReader>, String, Vec<(MemoryRow, Vec<i8>)>),
    /// Changed vectors; `None` if the memory is archived or deleted, or the model knows no word of it.
    Some(Vec<(MemoryRow, Option<Vec<i8>>)>),
}

/// A second connection to an open memory.db, for a thread that only reads.
pub struct MemoryReader(MemoryDb);

impl MemoryReader {
    /// Opens a second connection. Only for the thread that owns the file, which knows whether it is being replaced.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        MemoryDb::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map(Self)
    }

    /// Reads the memories of a worktree, 0 for the whole repository, in one snapshot, which includes every earlier commit.
    ///
    /// # Errors
    /// The error of `read`.
    pub fn read<T, E: From<DatabaseError>>(
        &self,
        now_ms: i64,
        worktree: i64,
        read: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.scope.set(worktree);
        let to_error = DatabaseError::at_path(&self.0.path);
        let mut snapshot = self.0.conn.unchecked_transaction().map_err(to_error)?;
        // Nothing is written. A rollback would make SQLite read the schema again, and prepare each statement.
        snapshot.set_drop_behavior(DropBehavior::Commit);
        self.0.read(now_ms, read)
    }
}

impl MemoryDb {
    /// Returns the update for a copy of the vectors after the rows that were touched.
    pub(crate) fn changed_vectors(&self, model: &VectorModel) -> Result<VectorChanges, DatabaseError> {
        let vectors = self.touched.take_rows().into_iter().map(|row| {
            let row = MemoryRow(row);
            Ok((row, self.read(0, |rows| rows.vectors().living_vector(row, &model.id))?))
        });
        Ok(VectorChanges::Some(vectors.collect::<Result<_, DatabaseError>>()?))
    }
}
