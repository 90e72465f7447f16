//! Reports in one word whether the daemon can answer.

use std::time::{Duration, Instant};

use hyper::{Response, StatusCode};
use memod_engine::errors::RpcResult;
use memod_index_db::IndexReader;
use memod_proto::code;
use serde_json::json;
use tokio::time::timeout;

use super::http_site::HttpSite;
use super::response::{Body, json_response};
use crate::daemon::memories::memory_methods as memories;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};

/// Longest wait for both databases.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for which an answer is repeated without reading the databases again.
const REPEAT_TIME: Duration = Duration::from_secs(1);

/// Answers `/health`. A request needs no token, so answering costs little and reveals little.
///
/// The request does not count as a use: a program that asks every minute does not keep an idle daemon running.
pub(super) async fn answer_health(site: &HttpSite) -> Response<Body> {
    let mut known = site.health.lock().await;
    let failure = match &*known {
        Some((at, failure)) if at.elapsed() < REPEAT_TIME => *failure,
        _ => {
            let failure = find_failure(site).await;
            *known = Some((Instant::now(), failure));
            failure
        }
    };
    match failure {
        None => json_response(StatusCode::OK, &json!({ "status": "ok" })),
        Some(why) => {
            json_response(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "error", "reason": why }))
        }
    }
}

/// Returns a word for the reason why the daemon cannot answer requests; `None` if it can.
async fn find_failure(site: &HttpSite) -> Option<&'static str> {
    let Ok(_place) = site.in_work.try_acquire() else { return Some("busy") };
    let Ok(read) = timeout(PATIENCE, read_both_databases(site)).await else { return Some("slow") };
    read.err().map(|error| match error.code {
        code::STORE => "database",
        code::IO => "disk",
        code::BUSY => "busy",
        code::STOPPING => "stopping",
        code::WRONG_REPOSITORY => "worktree",
        _ => "internal",
    })
}

/// Reads a little of the memories and of the index, to check that both databases answer.
async fn read_both_databases(site: &HttpSite) -> RpcResult<()> {
    let request = RequestContext::new(&site.shared, RequestOrigin::Other);
    memories::call_method(&request, "memory.containers", json!({ "cwd": site.root })).await?;
    run_blocking(&request, |request| {
        Ok(request.shared.engine.with_reader(IndexReader::model_id).map(drop)?)
    })
    .await
}
