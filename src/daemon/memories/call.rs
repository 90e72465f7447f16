//! Maps the name of each memory method to its function.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::about;
use super::add::add;
use super::consolidate::{auto, consolidate};
use super::export::export;
use super::import::{self, keys};
use super::links::{link, links, resolve, unlink};
use super::now_ms;
use super::queries::{containers, get, history, list, stats, tags};
use super::recall::{promote, recall};
use super::remove::{forget, purge, restore};
use super::rules::Done;
use super::show;
use super::similar;
use super::update::update;
use super::{backups, databases, documents};
use crate::daemon::dispatch::no_method;
use crate::daemon::error::{RpcResult, bad_params, wrong_repository};
use crate::daemon::request::{blocking, params_of};
use crate::daemon::shared::Shared;
use crate::git;
use crate::memory::tiers::Tiers;
use crate::paths::RepoLayout;
use crate::proto::RpcError;
use crate::proto::exchange::MarkdownParams;
use crate::proto::memory::{AddParams, Caller, DedupeParams, RelatedParams};
use crate::store::{MemoryEvent, MemoryStore, Record, Rows};

/// Longest name of a request, bytes.
const MAX_REQUEST: usize = 128;

/// What the daemon puts beside what a caller says.
pub(super) struct Stamp {
    pub(super) now_ms: i64,
    pub(super) author: String,
    pub(super) source: &'static str,
    /// The worktree that it was said in.
    pub(super) layout: RepoLayout,
    pub(super) tiers: Tiers,
}

impl Stamp {
    pub(super) fn event(&self, action: &str) -> MemoryEvent {
        let (author, source) = (self.author.clone(), self.source.to_owned());
        MemoryEvent { at: self.now_ms, action: action.to_owned(), author, source, ..MemoryEvent::default() }
    }

    /// Keeps what a memory becomes, if anything differs. Returns it as it is then, and the fields that have changed.
    pub(super) fn put(
        &self,
        rows: &Rows<'_>,
        action: &str,
        before: &Record,
        mut after: Record,
    ) -> Done<(Record, Vec<String>)> {
        let fields = show::differences(before, &after);
        let changed = fields.keys().cloned().collect();
        if !fields.is_empty() {
            after.updated = self.now_ms.max(before.updated + 1);
            rows.put(&after, &super::derive(&after), &MemoryEvent { fields, ..self.event(action) })?;
        }
        Ok((after, changed))
    }
}

/// Runs one method whose name begins with `memory.`.
pub(in crate::daemon) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    let cwd = params["cwd"].as_str().unwrap_or_default().to_owned();
    let answer = run(shared, method, about::resolved(shared, params).await?).await?;
    match method {
        "memory.export" => Ok(answer), // it tells of memories, not of this worktree
        _ => Ok(about::with_states(shared, &cwd, answer).await),
    }
}

async fn run(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    match method {
        "memory.add" => {
            let near = shared.memories.near();
            let add =
                move |rows: &Rows<'_>, params: &AddParams, stamp: &Stamp| add(rows, params, stamp, &near);
            write(shared, params, add).await
        }
        "memory.merge" => write(shared, params, similar::merge).await,
        "memory.related" => {
            let near = shared.memories.near();
            let related =
                move |rows: &Rows<'_>, params: &RelatedParams, _| similar::related(rows, &near, params);
            read(shared, params, related).await
        }
        "memory.dedupe" => dedupe(shared, params_of(params)?).await,
        "memory.update" => write(shared, params, update).await,
        "memory.restore" => write(shared, params, restore).await,
        "memory.link" => write(shared, params, link).await,
        "memory.unlink" => write(shared, params, unlink).await,
        "memory.links" => read(shared, params, links).await,
        "memory.resolve" => write(shared, params, resolve).await,
        "memory.recall" => recall(shared, params).await,
        "memory.promote" => write(shared, params, promote).await,
        "memory.consolidate" => write(shared, params, consolidate).await,
        "memory.auto_consolidate" => write_or_rehearse(shared, params, auto).await,
        "memory.forget" => write_or_rehearse(shared, params, forget).await,
        "memory.purge" => write_or_rehearse(shared, params, purge).await,
        "memory.get" => read(shared, params, get).await,
        "memory.confirm" => about::confirm(shared, params).await,
        "memory.list" if !params["state"].is_null() => about::list_by_state(shared, params).await,
        "memory.list" => read(shared, params, list).await,
        "memory.history" => read(shared, params, history).await,
        "memory.tags" => read(shared, params, tags).await,
        "memory.containers" => read(shared, params, containers).await,
        "memory.import" => write_or_rehearse(shared, params, import::import).await,
        "memory.import_markdown" => markdown(shared, params_of(params)?).await,
        "memory.import_keys" => read(shared, params, keys).await,
        "memory.read_database" => databases::page(shared, params_of(params)?).await,
        "memory.backup" => backups::back_up(shared, params_of(params)?).await,
        "memory.restore_backup" => backups::restore(shared, params_of(params)?).await,
        "memory.export" => read(shared, params, export).await,
        "memory.stats" => stats(shared, params).await,
        _ => Err(no_method(method)),
    }
}

/// Runs a method that changes nothing.
pub(super) async fn read<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    params: Value,
    run: impl Fn(&Rows<'_>, &P, i64) -> Done<T> + Send + 'static,
) -> RpcResult<Value> {
    locate(shared, &params_of(params.clone())?)?;
    let params: P = params_of(params)?;
    let job = move |store: &mut MemoryStore| {
        let now_ms = now_ms();
        let read = store.read(now_ms, |rows| Ok(json!(run(rows, &params, now_ms)?)));
        with_notice(read, store, now_ms)
    };
    shared.memories.ask(job).await?
}

/// Runs a method that writes; a request that comes again gets the answer that it got.
pub(super) async fn write<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    params: Value,
    run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
) -> RpcResult<Value> {
    let (caller, params) = (params_of(params.clone())?, params_of(params)?);
    write_for(shared, caller, params, run).await
}

/// As [`write`], with params that are read already.
pub(super) async fn write_for<P: Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    caller: Caller,
    params: P,
    run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
) -> RpcResult<Value> {
    let request = caller.request.clone();
    stamped(shared, caller, move |store, stamp| {
        store.write(stamp.now_ms, |rows| {
            if let Some(name) = &request
                && let Some(answer) = rows.answer(name)?
            {
                return Ok(answer);
            }
            let answer = json!(run(rows, &params, stamp)?);
            if let Some(name) = &request {
                rows.keep_answer(name, &answer)?;
            }
            Ok(answer)
        })
    })
    .await
}

/// As [`write`], of a method that has a dry run.
async fn write_or_rehearse<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    params: Value,
    run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
) -> RpcResult<Value> {
    let dry_run = params["dry_run"] == json!(true);
    let (caller, params) = (params_of(params.clone())?, params_of(params)?);
    match dry_run {
        true => rehearse(shared, caller, params, run).await,
        false => write_for(shared, caller, params, run).await,
    }
}

/// Runs a method that writes, and takes back what it wrote: a dry run.
async fn rehearse<P: Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    caller: Caller,
    params: P,
    run: impl Fn(&Rows<'_>, &P, &Stamp) -> Done<T> + Send + 'static,
) -> RpcResult<Value> {
    stamped(shared, caller, move |store, stamp| {
        store.rehearse(stamp.now_ms, |rows| Ok(json!(run(rows, &params, stamp)?)))
    })
    .await
}

/// Has the thread that keeps the memories do this for the caller, at the moment that is its turn.
async fn stamped(
    shared: &Arc<Shared>,
    caller: Caller,
    run: impl FnOnce(&mut MemoryStore, &Stamp) -> Done<Value> + Send + 'static,
) -> RpcResult<Value> {
    let (layout, tiers) = (locate(shared, &caller)?, Tiers::of(&shared.config.memory));
    let job = move |store: &mut MemoryStore| {
        let stamp = stamp(&caller, &layout, tiers);
        let done = run(store, &stamp);
        with_notice(done, store, stamp.now_ms)
    };
    shared.memories.ask(job).await?
}

/// Compares all memories with each other, before the thread that keeps them is asked.
async fn dedupe(shared: &Arc<Shared>, params: DedupeParams) -> RpcResult<Value> {
    locate(shared, &params.caller)?;
    let threshold = similar::threshold(&params)?;
    let vectors = shared.memories.near().finder.vectors(Clone::clone);
    let pairs = blocking(shared, move |_| Ok(similar::pairs(&vectors, threshold))).await?;
    let job = move |store: &mut MemoryStore| {
        let now_ms = now_ms();
        let read = store.read(now_ms, |rows| Ok(json!(similar::dedupe(rows, &params, &pairs, threshold)?)));
        with_notice(read, store, now_ms)
    };
    shared.memories.ask(job).await?
}

/// A document is cut before the thread that keeps the memories sees it.
async fn markdown(shared: &Arc<Shared>, params: MarkdownParams) -> RpcResult<Value> {
    let (params, notes) = blocking(shared, move |_| documents::drafts(params).map_err(bad_params)).await?;
    let caller = params.caller.clone();
    let mut answer = match params.dry_run {
        true => rehearse(shared, caller, params, import::take).await?,
        false => write_for(shared, caller, params, import::take).await?,
    };
    answer["notes"] = json!(notes);
    Ok(answer)
}

/// Checks that the caller means this repository.
pub(in crate::daemon) fn locate(shared: &Shared, caller: &Caller) -> RpcResult<RepoLayout> {
    if caller.request.as_ref().is_some_and(|name| name.len() > MAX_REQUEST) {
        return Err(bad_params(format!("request: over {MAX_REQUEST} bytes")));
    }
    let cwd = PathBuf::from(&caller.cwd);
    if !cwd.is_absolute() {
        return Err(bad_params("cwd: an absolute path is needed, to know which repository is meant"));
    }
    let layout = RepoLayout::locate(&cwd, &shared.env)?;
    if layout.state_dir != shared.layout.state_dir {
        return Err(wrong_repository(&cwd, &shared.layout));
    }
    Ok(layout)
}

/// Settings that cannot be read leave the author unknown: a memory is worth more than its author's name.
fn stamp(caller: &Caller, layout: &RepoLayout, tiers: Tiers) -> Stamp {
    let author = git::author(layout, &git::UserDirs::read()).ok().flatten();
    let source = if caller.client == "cli" { "cli" } else { "api" };
    let author = author.unwrap_or_else(|| "unknown".to_owned());
    Stamp { now_ms: now_ms(), author, source, layout: layout.clone(), tiers }
}

/// Adds what people must know of the database to an answer.
pub(super) fn with_notice(
    answer: Result<Value, impl Into<RpcError>>,
    store: &MemoryStore,
    now_ms: i64,
) -> RpcResult<Value> {
    let mut answer = answer.map_err(Into::into)?;
    if let Some(notice) = store.notice(now_ms) {
        answer["notice"] = json!(notice);
    }
    Ok(answer)
}
