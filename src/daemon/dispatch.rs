//! What does each method do?

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::answer::{Verified, verify};
use super::event::{Ask, Event, Freshness, ViewReport};
use super::githooks::{self, Verb};
use super::shared::Shared;
use super::{changed, memories, overview, report, why};
use crate::extract::lang;
use crate::proto::{
    ErrorData, HelloParams, HelloResult, MapParams, MapResult, PROTOCOL, Pending, PlaceParams, RpcError,
    SearchParams, SearchResult, StatusParams, StatusResult, Sync, SyncParams, SyncResult, code,
};
use crate::search;
use crate::store::{Filter, Reader, StoreError};
use crate::types::{Kind, SourceKey};

/// Most hits of one page.
const MAX_LIMIT: usize = 200;
/// Longest globs of one request, bytes in all: they are compiled before anything else is done.
const MOST_GLOB_BYTES: usize = 16 << 10;
/// How often stale hits are indexed and the query is run again before they are dropped.
const RERUNS: usize = 2;
/// A search counts waiting embeddings up to this many: exact figures are for `sync` and `status`.
const MOST_PENDING: u32 = 1_000;
/// Longest time a request may wait for freshness.
const MAX_WAIT: Duration = Duration::from_secs(600);

pub(super) type Outcome<T> = Result<T, RpcError>;

/// Runs one method.
pub(super) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> Outcome<Value> {
    match method {
        "hello" => reply(&hello(&params_of::<HelloParams>(params)?)),
        "search" => reply(&search(shared, params_of(params)?).await?),
        "map" => reply(&map(shared, params_of(params)?).await?),
        "changed" => reply(&changed::changed(shared, params_of(params)?).await?),
        "why" => reply(&why::why(shared, params_of(params)?).await?),
        "status" => reply(&status(shared, params_of(params)?).await?),
        "sync" => reply(&sync(shared, params_of(params)?).await?),
        "reindex" => reply(&reindex(shared, params_of(params)?).await?),
        "doctor" => {
            let _: PlaceParams = params_of(params)?;
            let views = views(shared).await;
            let mut result = blocking(shared, move |shared| Ok(report::doctor(shared, &views))).await?;
            result.checks.push(shared.memories.check().await);
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
    let hint = "methods: hello, search, map, why, changed, status, sync, reindex, doctor, stop, hooks.install, hooks.uninstall, \
        hooks.status, memory.add, memory.get, memory.list, memory.update, memory.forget, memory.restore, memory.purge, \
        memory.tags, memory.containers, memory.history, memory.stats";
    let data = ErrorData { hint: Some(hint.to_owned()), retry_after_ms: None };
    RpcError { code: code::NO_METHOD, message: format!("{method}: no such method"), data: Some(data) }
}

pub(super) fn params_of<P: DeserializeOwned>(params: Value) -> Outcome<P> {
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    // serde would take an array for the fields in the order of their declaration.
    if !params.is_object() {
        return Err(bad_params("params: an object is needed, each param by its name".to_owned()));
    }
    serde_json::from_value(params).map_err(|error| bad_params(format!("params: {error}")))
}

fn reply(result: &impl Serialize) -> Outcome<Value> {
    serde_json::to_value(result).map_err(|error| internal(error.to_string()))
}

pub(super) fn bad_params(message: String) -> RpcError {
    RpcError { code: code::INVALID_PARAMS, message, data: None }
}

fn internal(message: String) -> RpcError {
    RpcError { code: code::INTERNAL, message, data: None }
}

pub(super) fn store_error(error: &StoreError) -> RpcError {
    let hint = match error {
        StoreError::Full { .. } => "free some space on that file system; all that was acknowledged is kept",
        StoreError::Newer { .. } => "install the version of memod that wrote it, or a later one",
        _ => "`memo doctor` checks the disk and the databases",
    };
    let data = ErrorData { hint: Some(hint.to_owned()), retry_after_ms: None };
    RpcError { code: code::STORE, message: error.to_string(), data: Some(data) }
}

/// Runs what blocks on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    run: impl FnOnce(&Shared) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let shared = Arc::clone(shared);
    spawn_blocking(move || run(&shared)).await.map_err(|panic| internal(panic.to_string()))?
}

fn hello(_: &HelloParams) -> HelloResult {
    HelloResult { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL, pid: std::process::id() }
}

/// Waits until the view of `cwd` is as fresh as asked, or the time is over.
pub(super) async fn freshness(
    shared: &Shared,
    cwd: &str,
    level: Sync,
    deadline: Instant,
    dirty: Vec<SourceKey>,
    needs_commits: bool,
) -> Outcome<Freshness> {
    let cwd = PathBuf::from(cwd);
    if !cwd.is_absolute() {
        return Err(bad_params(
            "cwd: an absolute path is needed, to know which worktree is meant".to_owned(),
        ));
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
    let stopping =
        || RpcError { code: code::STOPPING, message: "the daemon is stopping".to_owned(), data: None };
    answer.await.map_err(|_| stopping())?
}

pub(super) fn deadline(shared: &Shared, wait_ms: Option<u64>) -> Instant {
    let wait = Duration::from_millis(wait_ms.unwrap_or(shared.config.search.wait_ms));
    Instant::now() + wait.min(MAX_WAIT)
}

async fn search(shared: &Arc<Shared>, params: SearchParams) -> Outcome<SearchResult> {
    let started = Instant::now();
    let limit = params.limit.unwrap_or(shared.config.search.limit as usize);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(bad_params(format!("limit: {limit} is not between 1 and {MAX_LIMIT}")));
    }
    if params.query.trim().is_empty() {
        return Err(bad_params("query: empty; say what to look for".to_owned()));
    }
    let langs = params.lang.iter().map(|word| lang_of(word)).collect::<Result<_, _>>()?;
    let filter = Filter { kinds: params.kind.clone(), langs, paths: params.path.clone() };
    let glob_bytes: usize = params.path.iter().map(String::len).sum();
    if glob_bytes > MOST_GLOB_BYTES {
        return Err(bad_params(format!("path: {glob_bytes} bytes of globs, over {MOST_GLOB_BYTES}")));
    }
    filter.check().map_err(|error| bad_params(format!("path: {error}")))?;
    let question = Arc::new(Question { params, filter, limit });
    let Question { params, .. } = &*question;
    let deadline = deadline(shared, params.wait_ms);
    let needs_commits = params.kind.is_empty() || params.kind.contains(&Kind::Commit);
    let mut at = freshness(shared, &params.cwd, params.sync, deadline, Vec::new(), needs_commits).await?;
    shared.queries.fetch_add(1, Ordering::Relaxed);
    let mut reruns = 0;
    let page = loop {
        let (asked, snapshot) = (Arc::clone(&question), at.clone());
        let mut page = blocking(shared, move |shared| find(shared, &asked, &snapshot)).await?;
        let why_not = page.why_not(params.sync);
        if why_not.is_none() {
            break page;
        }
        if reruns == RERUNS {
            page.result.fresh = false;
            page.result.reason = page.result.reason.or(why_not);
            break page;
        }
        // What the disk says is newer than the index, whatever the watcher thinks: index it, ask again.
        reruns += 1;
        at = freshness(shared, &params.cwd, params.sync, deadline, page.stale, needs_commits).await?;
    };
    Ok(SearchResult {
        query: params.query.clone(),
        mode: params.mode,
        took_ms: started.elapsed().as_secs_f64() * 1_000.0,
        ..page.result
    })
}

/// A search whose params have been checked.
struct Question {
    params: SearchParams,
    filter: Filter,
    limit: usize,
}

/// What one snapshot answers.
struct Page {
    result: SearchResult,
    stale: Vec<SourceKey>,
    /// Something was taken out of a manifest after the snapshot was said to be fresh.
    moved: bool,
}

impl Page {
    /// Returns why it is not the answer yet, if so.
    fn why_not(&self, level: Sync) -> Option<String> {
        match self.stale.first() {
            Some(path) => Some(format!("{path} changed while it was being read")),
            None if self.moved && level != Sync::None => {
                Some("files went while the answer was made".to_owned())
            }
            None => None,
        }
    }
}

fn find(shared: &Shared, question: &Question, at: &Freshness) -> Outcome<Page> {
    let Question { params, filter, limit } = question;
    let embedder = match shared.embedder.get() {
        Some(Ok(embedder)) => Ok(embedder.as_ref()),
        Some(Err(why)) => Err(why.as_str()),
        None => Err("model loading"),
    };
    let nearest = shared.nearest.read().unwrap_or_else(PoisonError::into_inner);
    let ask = search::Ask {
        view: at.view,
        query: &params.query,
        mode: params.mode,
        filter,
        limit: *limit,
        embedder,
        nearest: nearest.as_ref(),
    };
    let read = |reader: &Reader| {
        reader.snapshot(|reader| {
            let answer = search::run(reader, &ask)?;
            let embeddings = reader.pending_embeddings(at.view, MOST_PENDING)?;
            let is_whole = reader.view(at.view)?.is_some_and(|row| row.complete);
            Ok((answer, embeddings, clock(reader, at)?, is_whole))
        })
    };
    let (answer, embeddings, clock, is_whole) = shared.read(read).map_err(|error| store_error(&error))?;
    let moved = shared.progress.removals.load(Ordering::SeqCst) != at.removals;
    let Verified { hits, stale } = verify(&answer, at, *limit, shared.config.index.max_file_bytes);
    let pending = Pending { embeddings, ..at.pending };
    let (mut degraded, corrected) = (answer.degraded, answer.corrected);
    degraded.extend(at.files_note.iter().map(|why| format!("files: {why}")));
    if filter.kinds.contains(&Kind::Commit) {
        degraded.extend(at.commits_note.iter().map(|why| format!("commits: {why}")));
    }
    // Between the promise and this snapshot `reindex` may have emptied it.
    let reason =
        at.reason.clone().or_else(|| (!is_whole).then(|| "the index is being built anew".to_owned()));
    let result = SearchResult {
        total: answer.found.len(),
        hits,
        pending,
        degraded,
        corrected,
        clock,
        fresh: at.fresh && is_whole,
        reason,
        ..SearchResult::default()
    };
    Ok(Page { result, stale, moved })
}

/// Returns `m1:<epoch>:<view>:<seq>` of a snapshot.
pub(super) fn clock(reader: &Reader, at: &Freshness) -> Result<String, StoreError> {
    let row = reader.view(at.view)?;
    Ok(row.map_or_else(String::new, |row| format!("m1:{}:{}:{}", row.epoch, row.id.0, row.seq)))
}

/// Returns the format that a `--lang` word names.
fn lang_of(word: &str) -> Outcome<String> {
    let known = || format!("lang: {word} is none of {}", lang::names().join(", "));
    lang::canonical(word).map(str::to_owned).ok_or_else(|| bad_params(known()))
}

async fn map(shared: &Arc<Shared>, params: MapParams) -> Outcome<MapResult> {
    let at = freshness(shared, &params.cwd, params.sync, deadline(shared, None), Vec::new(), false).await?;
    blocking(shared, move |shared| overview::map(shared, &params, &at).map_err(|error| store_error(&error)))
        .await
}

async fn status(shared: &Arc<Shared>, params: StatusParams) -> Outcome<StatusResult> {
    let at = freshness(shared, &params.cwd, Sync::None, deadline(shared, None), Vec::new(), false).await?;
    let views = views(shared).await;
    let status = move |shared: &Shared| report::status(shared, &params, &at, views);
    let mut status =
        blocking(shared, move |shared| status(shared).map_err(|error| store_error(&error))).await?;
    let (memories, notices) = shared.memories.overview().await;
    status.counts.memories = memories;
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
    let at = freshness(shared, &params.cwd, params.sync, deadline(shared, params.wait_ms), Vec::new(), true)
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
        shared.read(read).map_err(|error| store_error(&error))
    };
    blocking(shared, read).await
}

/// Empties the index and begins anew; does not wait for it.
async fn reindex(shared: &Arc<Shared>, params: PlaceParams) -> Outcome<Value> {
    freshness(shared, &params.cwd, Sync::None, deadline(shared, None), Vec::new(), false).await?;
    shared.send(Event::Reindex);
    Ok(Value::Object(serde_json::Map::new()))
}
