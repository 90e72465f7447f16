//! Converts errors of PostgreSQL to errors of the team's server.

use super::TeamError;
use tokio_postgres::error::SqlState;

/// Returns the error for a query that failed; `what` is the address of the server, or what was tried.
pub(super) fn query_error(what: &str, error: &tokio_postgres::Error) -> TeamError {
    let failed = TeamError::new(format!("{what}: {}", error_chain(error)));
    match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => failed.with_hint(
            "another session has locked the repository: the owner finds it in pg_stat_activity; memod tries again",
        ),
        _ => failed,
    }
}

/// Returns the message of an error with the messages of its causes.
pub(super) fn error_chain(error: &tokio_postgres::Error) -> String {
    if let Some(of_server) = error.as_db_error() {
        return format!("{} ({})", of_server.message(), of_server.code().code());
    }
    let mut said = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_says = cause.to_string();
        if !said.contains(&cause_says) {
            said = format!("{said}: {cause_says}");
        }
        source = cause.source();
    }
    said
}
