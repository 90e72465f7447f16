//! Formats errors with their remedies.

use std::error::Error;
use std::fmt::Display;

use memod_base::paths::{self, PathError};
use memod_database::DatabaseError;
use memod_indexing::IndexError;
use memod_proto::{RETRY_AFTER_MS, RpcError, code};
use memod_watch::WatchError;

/// The result of a request.
pub type RpcResult<T> = Result<T, RpcError>;

/// Returns the error for a request that exceeds a limit now, and may succeed when it is sent again.
pub fn busy_error(message: impl Into<String>) -> RpcError {
    RpcError::new(code::BUSY, message).with_retry(RETRY_AFTER_MS)
}

/// Returns an error and its causes in one line. Leaves out a cause that the line already ends with, because most errors name
/// their cause themselves.
pub fn error_chain(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !line.ends_with(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}

/// Returns the remedy for an error, if the error or one of its causes has one.
pub fn find_hint(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(find_cause_hint)
}

fn find_cause_hint(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = cause.downcast_ref::<DatabaseError>() {
        return Some(error.hint());
    }
    if let Some(error) = cause.downcast_ref::<IndexError>() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref::<WatchError>() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref::<PathError>() {
        return error.hint();
    }
    cause.downcast_ref().and_then(paths::io_error_hint)
}

/// Returns an error with its remedy in one line.
pub(crate) fn line_with_hint(error: &impl Display, hint: Option<&str>) -> String {
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// Returns the error for a request that arrives while the daemon stops.
pub fn stopping_error() -> RpcError {
    RpcError::new(code::STOPPING, "the daemon is stopping")
}
