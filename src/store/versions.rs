//! Checks the schema version of databases that another process may have open.

use std::path::Path;

use rusqlite::{ErrorCode, OpenFlags};

use super::memory::schema::MEMORY;
use super::schema::{INDEX, check_known, version};
use super::{StoreError, open};

/// Checks whether index.db can be opened. An absent or damaged one passes, because the daemon builds a new one.
///
/// # Errors
/// When its schema is newer than ours, or it cannot be read.
pub fn check_index(path: &Path) -> Result<(), StoreError> {
    check_schema(path, INDEX)
}

/// As [`check_index`], for memory.db.
///
/// # Errors
/// As [`check_index`].
pub fn check_memory(path: &Path) -> Result<(), StoreError> {
    check_schema(path, MEMORY)
}

fn check_schema(path: &Path, versions: &[&str]) -> Result<(), StoreError> {
    if !path.is_file() {
        return Ok(());
    }
    let read = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|conn| version(&conn));
    match read.map_err(|error| StoreError::new(path, error)) {
        Ok(found) => check_known(path, found, versions),
        Err(StoreError::Corrupt { .. }) => Ok(()),
        // A daemon that had no room for the -shm file holds it alone until it ends, and knows its schema.
        Err(StoreError::Sqlite { source, .. })
            if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
        {
            Ok(())
        }
        Err(error) => Err(error),
    }
}
