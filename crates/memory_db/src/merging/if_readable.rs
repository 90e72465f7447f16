//! Tolerates what cannot be read from a damaged or older database.

use memod_database::DatabaseError;

/// Returns the value that was read; `None` if damage hides the value, or an older database does not have it.
///
/// # Errors
/// When the value may be readable another time.
pub(crate) fn none_if_unreadable<T>(read: Result<T, DatabaseError>) -> Result<Option<T>, DatabaseError> {
    match read {
        Err(error) if error.is_transient() => Err(error),
        read => Ok(read.ok()),
    }
}
