//! Provides what every method needs: params, a deadline, freshness, and a thread for blocking work.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::error::{RpcResult, bad_params};
use super::event::{Ask, Event, Freshness};
use super::shared::Shared;
use crate::proto::{RpcError, Sync, code};
use crate::store::{Reader, StoreError};
use crate::types::SourceKey;

/// Longest time a request may wait for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Parses the params of a method; none at all are an empty object.
pub(super) fn params_of<P: DeserializeOwned>(params: Value) -> RpcResult<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would take an array for the fields in the order of their declaration.
    if !params.is_object() {
        return Err(bad_params("params: an object is needed, each param by its name"));
    }
    serde_json::from_value(params).map_err(|error| bad_params(format!("params: {error}")))
}

/// Runs what blocks on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> RpcResult<T> + Send + 'static,
) -> RpcResult<T> {
    let shared = Arc::clone(shared);
    spawn_blocking(move || run(&shared))
        .await
        .map_err(|panic| RpcError::new(code::INTERNAL, panic.to_string()))?
}

/// Waits until the files of the view of `cwd` are as fresh as asked, or the time is over.
pub(super) async fn freshness(
    shared: &Shared,
    cwd: &str,
    level: Sync,
    deadline: Instant,
) -> RpcResult<Freshness> {
    freshness_with(shared, cwd, level, deadline, Vec::new(), false).await
}

/// As [`freshness`], where these paths were found `dirty`, and perhaps with the commits.
pub(super) async fn freshness_with(
    shared: &Shared,
    cwd: &str,
    level: Sync,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> RpcResult<Freshness> {
    let cwd = PathBuf::from(cwd);
    if !cwd.is_absolute() {
        return Err(bad_params("cwd: an absolute path is needed, to know which worktree is meant"));
    }
    let (reply, answer) = oneshot::channel();
    shared.send(Event::Ask(Ask {
        cwd,
        level,
        deadline,
        dirty,
        needs_commits,
        commits_round: 0,
        tries: 0,
        reply,
    }));
    answer.await.map_err(|_| RpcError::new(code::STOPPING, "the daemon is stopping"))?
}

pub(super) fn deadline(shared: &Shared, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(shared.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

/// Returns `m1:<epoch>:<view>:<seq>` of a snapshot.
pub(super) fn clock(reader: &Reader, at: &Freshness) -> Result<String, StoreError> {
    let row = reader.view(at.view)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}
