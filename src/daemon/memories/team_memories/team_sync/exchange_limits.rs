//! Bounds a page of versions, and reports failures of our own database.

use memod_proto::RpcError;
use memod_team::TeamError;

/// Maximum number of versions in one request.
pub(in crate::daemon::memories) const VERSIONS_PER_PAGE: i64 = 2_000;

/// Returns a failure of the local database, as opposed to the server.
pub(in crate::daemon::memories) fn local_error(error: RpcError) -> TeamError {
    let hint = error.data.and_then(|data| data.hint);
    TeamError { message: format!("memory.db: {}", error.message), hint }
}
