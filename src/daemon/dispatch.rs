//! What does each method do?

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::error::{Outcome, bad_params};
use super::event::{Ask, Event, Freshness, ViewReport};
use super::githooks::{self, Verb};
use super::shared::Shared;
use super::{brief, changed, memories, overview, report, search, why};
use crate::proto::{
    HelloParams, HelloResult, METHODS, MapParams, MapResult, PROTOCOL, Pending, PlaceParams, RpcError,
    StatusParams, StatusResult, Sync, SyncParams, SyncResult, code,
};
use crate::store::{Reader, StoreError};
use crate::types::SourceKey;

/// Longest time a request may wait for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Runs one method.
pub(super) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> Outcome<Value> {
    // One that is not told of is not there.
    if !METHODS.contains(&method) {
        return Err(no_method(method));
    }
    match method {
        "hello" => reply(&hello(&params_of::<HelloParams>(params)?)),
        "search" => reply(&search::search(shared, params_of(params)?).await?),
        "brief" => reply(&brief::brief(shared, params_of(params)?).await?),
        "map" => reply(&map(shared, params_of(params)?).await?),
        "changed" => reply(&changed::changed(shared, params_of(params)?).await?),
        "why" => reply(&why::why(shared, params_of(params)?).await?),
        "status" => reply(&status(shared, params_of(params)?).await?),
        "sync" => reply(&sync(shared, params_of(params)?).await?),
        "reindex" => reply(&reindex(shared, params_of(params)?).await?),
        "doctor" => {
            let params: PlaceParams = params_of(params)?;
            let views = views(shared).await;
            let mut result = blocking(shared, move |shared| Ok(report::doctor(shared, &views))).await?;
            result.checks.push(shared.memories.check().await);
            let states = memories::state_counts(shared, &params.cwd).await.unwrap_or_default();
            result.checks.extend(report::anchors(&states));
            reply(&result)
        }
        "hooks.install" => reply(&githooks::call(shared, Verb::Install, params_of(params)?).await?),
        "hooks.uninstall" => reply(&githooks::call(shared, Verb::Uninstall, params_of(params)?).await?),
        "hooks.status" => reply(&githooks::call(shared, Verb::Status, params_of(params)?).await?),
        "stop" => {
            shared.send(Event::Stop("asked to"));
            Ok(Value::Object(serde_json::Map::new()))
        }
        _ if method.starts_with("memory.") => memories::call(shared, method, params).await,
        _ => Err(no_method(method)),
    }
}

pub(super) fn no_method(method: &str) -> RpcError {
    let hint = format!("methods: {}", METHODS.join(", "));
    RpcError::new(code::NO_METHOD, format!("{method}: no such method")).with_hint(hint)
}

pub(super) fn params_of<P: DeserializeOwned>(params: Value) -> Outcome<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would take an array for the fields in the order of their declaration.
    if !params.is_object() {
        return Err(bad_params("params: an object is needed, each param by its name"));
    }
    serde_json::from_value(params).map_err(|error| bad_params(format!("params: {error}")))
}

fn reply(result: &impl Serialize) -> Outcome<Value> {
    serde_json::to_value(result).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}

/// Runs what blocks on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let shared = Arc::clone(shared);
    spawn_blocking(move || run(&shared))
        .await
        .map_err(|panic| RpcError::new(code::INTERNAL, panic.to_string()))?
}

fn hello(_: &HelloParams) -> HelloResult {
    HelloResult { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL, pid: std::process::id() }
}

/// Waits until the files of the view of `cwd` are as fresh as asked, or the time is over.
pub(super) async fn freshness(
    shared: &Shared,
    cwd: &str,
    level: Sync,
    deadline: Instant,
) -> Outcome<Freshness> {
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
) -> Outcome<Freshness> {
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

async fn map(shared: &Arc<Shared>, params: MapParams) -> Outcome<MapResult> {
    let at = freshness(shared, &params.cwd, params.sync, deadline(shared, None)).await?;
    blocking(shared, move |shared| Ok(overview::map(shared, &params, &at)?)).await
}

async fn status(shared: &Arc<Shared>, params: StatusParams) -> Outcome<StatusResult> {
    let cwd = params.cwd.clone();
    let at = freshness(shared, &cwd, Sync::None, deadline(shared, None)).await?;
    let views = views(shared).await;
    let status = move |shared: &Shared| Ok(report::status(shared, &params, &at, views)?);
    let mut status = blocking(shared, status).await?;
    let (memories, notices) = shared.memories.overview().await;
    status.counts.memories = memories;
    // Why they cannot be counted is among the notices.
    status.anchors = memories::state_counts(shared, &cwd).await.unwrap_or_default();
    status.degraded.extend(notices);
    Ok(status)
}

/// Asks the loop what it knows of each worktree; nothing once it has ended.
async fn views(shared: &Shared) -> Vec<ViewReport> {
    let (reply, views) = oneshot::channel();
    shared.send(Event::Views(reply));
    views.await.unwrap_or_default()
}

async fn sync(shared: &Arc<Shared>, params: SyncParams) -> Outcome<SyncResult> {
    let at =
        freshness_with(shared, &params.cwd, params.sync, deadline(shared, params.wait_ms), Vec::new(), true)
            .await?;
    let (done_files, total_files) = shared.progress.files();
    let read = move |shared: &Shared| {
        let read = |reader: &Reader| {
            reader.snapshot(|reader| {
                let total_chunks = reader.n_chunks(at.view)?;
                let pending =
                    Pending { embeddings: reader.pending_embeddings(at.view, u32::MAX)?, ..at.pending };
                let clock = clock(reader, &at)?;
                let (fresh, reason) = (at.fresh, at.reason.clone());
                Ok(SyncResult { fresh, reason, pending, clock, total_files, done_files, total_chunks })
            })
        };
        shared.read(read)
    };
    blocking(shared, read).await
}

/// Empties the index and begins anew; does not wait for it.
async fn reindex(shared: &Arc<Shared>, params: PlaceParams) -> Outcome<Value> {
    freshness(shared, &params.cwd, Sync::None, deadline(shared, None)).await?;
    shared.send(Event::Reindex);
    Ok(Value::Object(serde_json::Map::new()))
}
