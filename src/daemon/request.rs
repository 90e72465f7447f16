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

/// How often what proves stale is indexed and asked for again before it is dropped.
const RERUNS: usize = 2;
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

/// The snapshot that a request wants to be answered from.
pub(super) struct SnapshotAsk {
    pub(super) cwd: String,
    pub(super) level: Sync,
    pub(super) deadline: Instant,
    pub(super) needs_commits: bool,
}

/// Runs `run` on a snapshot that is as fresh as asked, and again where the disk is newer than it. Returns the last value,
/// and why it may not be what the disk says.
///
/// `run` is told whether it runs again; beside its value it returns the paths that the disk has otherwise than the
/// snapshot.
pub(super) async fn on_snapshot<T: Send + 'static>(
    shared: &Arc<Shared>,
    ask: SnapshotAsk,
    run: impl Fn(&Shared, &Freshness, bool) -> RpcResult<(T, Vec<SourceKey>)> + Send + std::marker::Sync + 'static,
) -> RpcResult<(T, Option<String>)> {
    let SnapshotAsk { cwd, level, deadline, needs_commits } = ask;
    let run = Arc::new(run);
    let (mut stale, mut reruns) = (Vec::new(), 0);
    loop {
        let at = freshness_with(shared, &cwd, level, deadline, stale, needs_commits).await?;
        let run = Arc::clone(&run);
        let once = move |shared: &Shared| {
            let (value, newer) = run(shared, &at, reruns > 0)?;
            Ok((value, newer, at.is_outdated(&shared.progress)))
        };
        let (value, newer, has_moved) = blocking(shared, once).await?;
        let why_not = why_not(&newer, has_moved, level);
        if why_not.is_none() || reruns == RERUNS {
            return Ok((value, why_not));
        }
        // What the disk says is newer than the index, whatever the watcher thinks: index it, ask again.
        (stale, reruns) = (newer, reruns + 1);
    }
}

/// Returns why what was made of a snapshot is not the answer yet, if so: paths are `stale`, or files have `moved` since it
/// was said to be fresh.
fn why_not(stale: &[SourceKey], has_moved: bool, level: Sync) -> Option<String> {
    match stale.first() {
        Some(path) => Some(format!("{path} changed while it was being read")),
        None if has_moved && level != Sync::None => Some("files went while the answer was made".to_owned()),
        None => None,
    }
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
