//! Says whether the daemon can answer, in a word.

use std::time::Duration;

use hyper::{Response, StatusCode};
use serde_json::json;
use tokio::time::timeout;

use super::response::{Body, of_json};
use super::site::Site;
use crate::daemon::error::RpcResult;
use crate::daemon::memories::call as memories;
use crate::daemon::request::blocking;
use crate::proto::code;
use crate::store::Reader;

/// Longest wait for both databases.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers `/health`. It needs no token, so it costs little and says little.
///
/// It does not count as a use: a program that asks every minute does not keep an idle daemon running.
pub(super) async fn health(site: &Site) -> Response<Body> {
    let why_not = match site.in_work.try_acquire() {
        Err(_) => Some("busy"),
        Ok(_place) => match timeout(PATIENCE, read_both(site)).await {
            Err(_) => Some("slow"),
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(match error.code {
                code::STORE => "database",
                code::IO => "disk",
                code::BUSY => "busy",
                code::STOPPING => "stopping",
                code::WRONG_REPOSITORY => "worktree",
                _ => "internal",
            }),
        },
    };
    match why_not {
        None => of_json(StatusCode::OK, &json!({ "status": "ok" })),
        Some(why) => of_json(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "error", "reason": why })),
    }
}

/// Reads a little of the memories and of the index.
async fn read_both(site: &Site) -> RpcResult<()> {
    memories::call(&site.shared, "memory.containers", json!({ "cwd": site.root })).await?;
    blocking(&site.shared, |shared| Ok(shared.read(Reader::model).map(drop)?)).await
}
