//! Gives the rows of one snapshot, or of one transaction that writes, to the types of each subject.

use std::cell::{Cell, RefCell};
use std::path::Path;

use memod_base::types::NotedChange;
use memod_database::DatabaseError;
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::access::touched_rows::TouchedRows;
use crate::access::worktree_scope::WorktreeScope;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::{DerivedData, RecordFunctions};

/// A snapshot of the rows; one of a transaction that writes sees its own changes.
pub(crate) struct RowAccess<'a> {
    conn: &'a Connection,
    path: &'a Path,
    now_ms: i64,
    /// Memories that this transaction deleted for good.
    deleted: RefCell<Vec<NotedChange>>,
    pub(crate) forms: Option<RecordFunctions>,
    scope: WorktreeScope,
    /// The rows that the connection has written; `None` if it only reads.
    pub(crate) touched: Option<TouchedRows>,
    /// Whether files of worktrees must be read again, because they may show something else now.
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
            forms,
            scope,
            reads_files_again: Cell::default(),
        }
    }

    /// Makes this the access of a writing connection, which records written rows in `touched`.
    pub(crate) fn with_touched(self, touched: &TouchedRows) -> Self {
        Self { touched: Some(touched.clone()), ..self }
    }
}

impl RowAccess<'_> {
    /// Reads the memories of this worktree from now on.
    pub(crate) fn enter_worktree(&self, worktree: i64) {
        self.scope.set(worktree);
    }

    /// Returns the number of the worktree that is read; 0 for the whole repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn current_worktree(&self) -> Result<i64, DatabaseError> {
        self.run(|conn| conn.prepare_cached("SELECT memod_worktree()")?.query_row([], |row| row.get(0)))
    }

    /// Returns whether this transaction deletes memories for good.
    pub(crate) fn has_deleted(&self) -> bool {
        !self.deleted.borrow().is_empty()
    }

    /// Returns whether files of worktrees must be read again after the commit.
    pub(crate) fn reads_files_again(&self) -> bool {
        self.has_deleted() || self.reads_files_again.get()
    }

    /// Schedules another reading of the files of worktrees after the commit.
    pub(crate) fn set_reads_files_again(&self) {
        self.reads_files_again.set(true);
    }

    /// Returns the memories that were deleted for good.
    pub(crate) fn deleted_changes(&self) -> Vec<NotedChange> {
        self.deleted.borrow().clone()
    }

    /// Records that memories were deleted for good.
    pub(crate) fn note_deleted(&self, records: &[MemoryRecord], action: &str) {
        let ids = records.iter().map(|record| record.id.clone()).collect();
        self.deleted.borrow_mut().push(NotedChange { action: action.to_owned(), ids });
    }

    /// Returns the time of the snapshot, unix ms.
    pub(crate) fn now_ms(&self) -> i64 {
        self.now_ms
    }

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

    pub(crate) fn derive_data(&self, record: &MemoryRecord) -> DerivedData {
        (self.record_functions().derive)(record)
    }

    pub(crate) fn diff_records(&self, before: &MemoryRecord, after: &MemoryRecord) -> Map<String, Value> {
        (self.record_functions().differences)(before, after)
    }

    pub(crate) fn record_functions(&self) -> RecordFunctions {
        self.forms.expect("a store that has files was given the forms")
    }
}

/// Declares the type of one subject, and the types below it that it uses. Such a type is a copy of a reference, so every
/// function can ask for what it needs.
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
