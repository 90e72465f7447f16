//! Reads what an older database may not have.

use memod_database::DatabaseError;

/// Returns the value that was read; `None` where damage hides it or the database does not have it.
///
/// # Errors
/// When it may be read another time.
pub(crate) fn if_readable<T>(read: Result<T, DatabaseError>) -> Result<Option<T>, DatabaseError> {
    match read {
        Err(error) if error.is_transient() => Err(error),
        read => Ok(read.ok()),
    }
}
