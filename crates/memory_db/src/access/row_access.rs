//! Gives the types of each subject access to the rows of one snapshot or of one writing transaction.

use std::cell::{Cell, RefCell};
use std::path::Path;

use memod_base::types::MemoryChange;
use memod_database::DatabaseError;
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::access::touched_rows::TouchedRows;
use crate::access::worktree_scope::WorktreeScope;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::{HashAndWords, RecordFunctions};

/// Access to the rows of one snapshot, or of one writing transaction, which sees its own changes.
pub(crate) struct RowAccess<'a> {
    conn: &'a Connection,
    path: &'a Path,
    now_ms: i64,
    /// Memories that this transaction deleted for good.
    deleted: RefCell<Vec<MemoryChange>>,
    /// The functions that compute data from records; `None` for a database whose files are not kept apart by worktree.
    pub(crate) functions: Option<RecordFunctions>,
    scope: WorktreeScope,
    /// The rows that the connection has written; `None` if it only reads.
    pub(crate) touched: Option<TouchedRows>,
    /// Whether the files of worktrees must be read again, because their memories may have changed.
    reads_files_again: Cell<bool>,
}

impl<'a> RowAccess<'a> {
    pub(crate) fn new(
        conn: &'a Connection,
        path: &'a Path,
        now_ms: i64,
        forms: Option<RecordFunctions>,
        scope: WorktreeScope,
    ) -> Self {
        Self {
            touched: None,
            conn,
            path,
            now_ms,
            deleted: RefCell::default(),
            functions: forms,
            scope,
            reads_files_again: Cell::default(),
        }
    }

    /// Returns this access for a writing connection, which records written rows in `touched`.
    pub(crate) fn with_touched(self, touched: &TouchedRows) -> Self {
        Self { touched: Some(touched.clone()), ..self }
    }
}

impl RowAccess<'_> {
    /// Selects the worktree whose memories are read from now on, by its number; 0 for the whole repository.
    pub(crate) fn select_worktree(&self, worktree: i64) {
        self.scope.set_worktree(worktree);
    }

    /// Returns the number of the worktree that is read; 0 for the whole repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn current_worktree(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.prepare_cached("SELECT memod_worktree()")?.query_row([], |row| row.get(0)))
    }

    /// Returns whether this transaction has deleted memories for good.
    pub(crate) fn has_deleted(&self) -> bool {
        !self.deleted.borrow().is_empty()
    }

    /// Returns whether the files of worktrees must be read again after the commit.
    pub(crate) fn must_reread_files(&self) -> bool {
        self.has_deleted() || self.reads_files_again.get()
    }

    /// Makes the files of worktrees be read again after the commit.
    pub(crate) fn request_file_reread(&self) {
        self.reads_files_again.set(true);
    }

    /// Returns the memories that this transaction deleted for good.
    pub(crate) fn deleted_changes(&self) -> Vec<MemoryChange> {
        self.deleted.borrow().clone()
    }

    /// Records that this transaction deletes memories for good.
    pub(crate) fn record_deletions(&self, records: &[MemoryRecord], action: &str) {
        let ids = records.iter().map(|record| record.id.clone()).collect();
        self.deleted.borrow_mut().push(MemoryChange { action: action.to_owned(), ids });
    }

    /// Returns the time of the snapshot, unix ms.
    pub(crate) fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Calls `run` with the connection, and returns its result, with the path of the database in an error.
    pub(crate) fn run<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        run(self.conn).map_err(|error| DatabaseError::from_sqlite(self.path, error))
    }

    /// Returns ten random bytes.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn random_bytes(&self) -> Result<[u8; 10], DatabaseError> {
        self.run(|conn| conn.query_row("SELECT randomblob(10)", [], |row| row.get(0)))
    }

    /// Computes the data that is stored with a record.
    pub(crate) fn compute_hash_and_words(&self, record: &MemoryRecord) -> HashAndWords {
        (self.record_functions().compute_hash_and_words)(record)
    }

    /// Returns the fields that differ, as in a history: `{field: [before, after]}`.
    pub(crate) fn diff_records(&self, before: &MemoryRecord, after: &MemoryRecord) -> Map<String, Value> {
        (self.record_functions().differences)(before, after)
    }

    pub(crate) fn record_functions(&self) -> RecordFunctions {
        self.functions.expect("a store that has files was given the forms")
    }
}

/// Declares the type of one subject, with a method for each type of another subject that it uses. Such a type is only a copied
/// reference to the row access, so it is cheap to make.
macro_rules! row_handle {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($lower:ident: $Lower:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $vis struct $name<'a> {
            access: &'a $crate::access::row_access::RowAccess<'a>,
        }

        impl<'a> $name<'a> {
            pub(crate) fn new(access: &'a $crate::access::row_access::RowAccess<'a>) -> Self {
                Self { access }
            }

            $(
                fn $lower(&self) -> $Lower<'a> {
                    $Lower::new(self.access)
                }
            )*
        }
    };
}
pub(crate) use row_handle;
