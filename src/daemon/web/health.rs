//! Says whether the daemon can answer, in a word.

use std::time::{Duration, Instant};

use hyper::{Response, StatusCode};
use memod_engine::errors::RpcResult;
use memod_index_db::Reader;
use memod_proto::code;
use serde_json::json;
use tokio::time::timeout;

use super::response::{Body, of_json};
use super::site::Site;
use crate::daemon::memories::call as memories;
use crate::daemon::request::blocking;

/// Longest wait for both databases.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for which an answer is repeated.
const KEPT: Duration = Duration::from_secs(1);

/// Answers `/health`. It needs no token, so it costs little and says little.
///
/// It does not count as a use: a program that asks every minute does not keep an idle daemon running.
pub(super) async fn health(site: &Site) -> Response<Body> {
    let mut known = site.health.lock().await;
    let why_not = match &*known {
        Some((at, why_not)) if at.elapsed() < KEPT => *why_not,
        _ => {
            let why_not = why_not(site).await;
            *known = Some((Instant::now(), why_not));
            why_not
        }
    };
    match why_not {
        None => of_json(StatusCode::OK, &json!({ "status": "ok" })),
        Some(why) => of_json(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "error", "reason": why })),
    }
}

/// Returns a word for what fails, if something does.
async fn why_not(site: &Site) -> Option<&'static str> {
    let Ok(_place) = site.in_work.try_acquire() else { return Some("busy") };
    let Ok(read) = timeout(PATIENCE, read_both(site)).await else { return Some("slow") };
    read.err().map(|error| match error.code {
        code::STORE => "database",
        code::IO => "disk",
        code::BUSY => "busy",
        code::STOPPING => "stopping",
        code::WRONG_REPOSITORY => "worktree",
        _ => "internal",
    })
}

/// Reads a little of the memories and of the index.
async fn read_both(site: &Site) -> RpcResult<()> {
    memories::call(&site.shared, "memory.containers", json!({ "cwd": site.root })).await?;
    blocking(&site.shared, |shared| Ok(shared.engine.read(Reader::model).map(drop)?)).await
}
