//! Limits the size of a page of versions, and converts errors of our own database.

use memod_proto::RpcError;
use memod_team::TeamError;

/// Maximum number of versions in one request.
pub(in crate::daemon::memories) const VERSIONS_PER_PAGE: i64 = 2_000;

/// Converts an error of our own database to an error of the exchange that names memory.db, not the server.
pub(in crate::daemon::memories) fn local_error(error: RpcError) -> TeamError {
    let hint = error.data.and_then(|data| data.hint);
    TeamError { message: format!("memory.db: {}", error.message), hint }
}
