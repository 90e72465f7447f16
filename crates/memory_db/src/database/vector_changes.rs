//! Passes changed vectors to the process's in-memory copy of the vectors.

use std::path::Path;

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use rusqlite::{DropBehavior, OpenFlags};

use crate::database::open_database::MemoryDb;
use crate::memory_rows::MemoryRows;
use crate::search_arms::vector_rows::VectorModel;

/// An update for the in-memory copy of the vectors of living memories.
pub enum VectorChanges {
    /// All vectors, because a database was opened or the model was switched: a new connection for reading, the identity of the
    /// model, and the vectors, which replace the copy.
    All(Box<MemoryReader>, String, Vec<(MemoryRow, Vec<i8>)>),
    /// Changed vectors by row; `None` if the memory is archived or deleted, or the model knows no word of it.
    Some(Vec<(MemoryRow, Option<Vec<i8>>)>),
}

/// A second connection to an open memory.db, for a thread that only reads.
pub struct MemoryReader(MemoryDb);

impl MemoryReader {
    /// Opens a second connection to a memory.db. Only the thread that owns the file may call this, because it knows whether the
    /// file is being replaced.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        MemoryDb::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map(Self)
    }

    /// Calls `read` with the rows of a worktree, 0 for the whole repository, and returns its result. All rows are from one
    /// snapshot, which includes every earlier commit.
    ///
    /// # Errors
    /// The error of `read`.
    pub fn read<T, E: From<DatabaseError>>(
        &self,
        now_ms: i64,
        worktree: i64,
        read: impl FnOnce(&MemoryRows<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.scope.set_worktree(worktree);
        let to_error = DatabaseError::at_path(&self.0.path);
        let mut snapshot = self.0.conn.unchecked_transaction().map_err(to_error)?;
        // Nothing is written. After a rollback, SQLite would read the schema and prepare each statement again.
        snapshot.set_drop_behavior(DropBehavior::Commit);
        self.0.read(now_ms, read)
    }
}

impl MemoryDb {
    /// Returns the vectors of the rows that were written since the last call.
    pub(crate) fn take_changed_vectors(&self, model: &VectorModel) -> Result<VectorChanges, DatabaseError> {
        let vectors = self.touched.take_rows().into_iter().map(|row| {
            let row = MemoryRow(row);
            Ok((row, self.read(0, |rows| rows.vectors().living_vector(row, &model.id))?))
        });
        Ok(VectorChanges::Some(vectors.collect::<Result<_, DatabaseError>>()?))
    }
}
