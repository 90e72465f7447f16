//! Maps the name of each method to its function.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_engine::index_repair;
use memod_index_db::Reader;
use memod_proto::{
    AcknowledgeResult, CwdParams, HelloParams, HelloResult, IndexProgress, MapParams, MapResult, Method,
    PROTOCOL, Pending, RpcError, StatusParams, StatusResult, Sync, SyncParams, SyncResult, code,
};
use serde::Serialize;
use serde_json::Value;

use crate::daemon::completing;
use crate::daemon::context::advice;
use crate::daemon::context::briefing;
use crate::daemon::githooks::{self, Verb};
use crate::daemon::history::changed;
use crate::daemon::history::why;
use crate::daemon::llm_methods;
use crate::daemon::memories::call as memories;
use crate::daemon::memories::enter_worktree::enter;
use crate::daemon::memories::file_check::check_unmerged;
use crate::daemon::memories::states;
use crate::daemon::memories::team_sync;
use crate::daemon::model_methods::{self, Verb as models};
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::error::no_method;
use crate::daemon::request::memory_scope::WORKTREE;
use crate::daemon::request::{
    blocking, clock, deadline, freshness, freshness_with, locate, params_of, reading, reading_files,
};
use crate::daemon::search;
use crate::daemon::shared::Shared;
use crate::daemon::status;
use crate::daemon::structure::outlining;
use crate::daemon::structure::references;
use crate::daemon::structure::references::Question;
use crate::daemon::structure::repo_map;
use crate::daemon::structure::show_code;
use crate::daemon::subscribing;

/// Runs one method. What its answer owes is written here, and nowhere else.
pub(super) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    let Some(method) = Method::find(method) else {
        return Err(no_method(method)); // a method must be documented to be called
    };
    shared.engine.note_use();
    let caveats = Arc::new(NotedCaveats::default());
    let request = async {
        let worktree = enter(shared, method, &params).await?;
        WORKTREE.scope(worktree, call_in_worktree(shared, method.name, params)).await
    };
    let mut result = caveats.scope(request).await?;
    caveats.write(method, &mut result);
    Ok(result)
}

/// Runs one method with the memories that the worktree of the caller has.
async fn call_in_worktree(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    match method {
        "hello" => reply(&hello(&params_of::<HelloParams>(params)?)),
        "search" => reply(&search::search(shared, params_of(params)?).await?),
        "brief" => reply(&briefing::brief(shared, params_of(params)?).await?),
        "advise" => reply(&advice::advise(shared, params_of(params)?).await?),
        "map" => reply(&map(shared, params_of(params)?).await?),
        "changed" => reply(&changed::changed(shared, params_of(params)?).await?),
        "complete" => reply(&completing::complete(shared, params_of(params)?).await?),
        "show" => reply(&show_code::show(shared, params_of(params)?).await?),
        "outline" => reply(&outlining::outline(shared, params_of(params)?).await?),
        "refs" => reply(&references::refs(shared, params_of(params)?).await?),
        "callers" => reply(&references::reach(shared, Question::Callers, params_of(params)?).await?),
        "callees" => reply(&references::reach(shared, Question::Callees, params_of(params)?).await?),
        "impact" => reply(&references::reach(shared, Question::Impact, params_of(params)?).await?),
        "tests" => reply(&references::reach(shared, Question::Tests, params_of(params)?).await?),
        "implements" => reply(&references::reach(shared, Question::Implements, params_of(params)?).await?),
        "why" => reply(&why::why(shared, params_of(params)?).await?),
        "status" => reply(&status(shared, params_of(params)?).await?),
        "sync" => reply(&sync(shared, params_of(params)?).await?),
        "subscribe" => reply(&subscribing::subscribe(shared, params_of(params)?).await?),
        "unsubscribe" => subscribing::unsubscribe().await.map(|()| Value::Object(serde_json::Map::new())),
        "reindex" => reply(&reindex(shared, params_of(params)?).await?),
        "doctor" => {
            let params: CwdParams = params_of(params)?;
            let layout = locate(shared, &params.cwd, deadline(shared, None)).await?;
            let views = shared.engine.report_views().await;
            let mut result = blocking(shared, move |shared| Ok(status::doctor(shared, &views))).await?;
            result.checks.extend(shared.memories.check().await);
            result.checks.extend(shared.memories.check_files().await);
            result.checks.extend(shared.memories.check_worktrees(&layout).await);
            result.checks.extend(check_unmerged(shared, &params.cwd).await);
            result.checks.extend(team_sync::check(shared).await);
            let states = states::counts(shared, &params.cwd).await.unwrap_or_default();
            result.checks.extend(status::anchors(&states));
            reply(&result)
        }
        "doctor.acknowledge" => reply(&acknowledge(shared, params_of(params)?).await?),
        "hooks.install" => reply(&githooks::call(shared, Verb::Install, params_of(params)?).await?),
        "hooks.uninstall" => reply(&githooks::call(shared, Verb::Uninstall, params_of(params)?).await?),
        "hooks.status" => reply(&githooks::call(shared, Verb::Status, params_of(params)?).await?),
        "model.list" => reply(&model_methods::call(shared, models::List, params_of(params)?).await?),
        "model.import" => reply(&model_methods::call(shared, models::Import, params_of(params)?).await?),
        "model.use" => reply(&model_methods::call(shared, models::Use, params_of(params)?).await?),
        "model.remove" => reply(&model_methods::call(shared, models::Remove, params_of(params)?).await?),
        "llm.status" => reply(&llm_methods::status(shared, params_of(params)?).await?),
        "llm.expand" => reply(&llm_methods::expand(shared, params_of(params)?).await?),
        "llm.summarise" => reply(&llm_methods::summarise(shared, params_of(params)?).await?),
        "llm.compare" => reply(&llm_methods::compare(shared, params_of(params)?).await?),
        "llm.suggest" => reply(&llm_methods::suggest(shared, params_of(params)?).await?),
        "llm.distil" => reply(&llm_methods::distil(shared, params_of(params)?).await?),
        "stop" => {
            shared.engine.stop("asked to");
            Ok(Value::Object(serde_json::Map::new()))
        }
        "team.status" => reply(&team_sync::show(shared, params_of(params)?).await?),
        "team.sync" => reply(&team_sync::sync(shared, params_of(params)?).await?),
        "team.leave" => reply(&team_sync::leave(shared, params_of(params)?).await?),
        "team.members" => reply(&team_sync::members(shared, params_of(params)?).await?),
        _ if method.starts_with("memory.") => memories::call(shared, method, params).await,
        _ => Err(no_method(method)),
    }
}

fn reply(result: &impl Serialize) -> RpcResult<Value> {
    serde_json::to_value(result).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}

fn hello(_: &HelloParams) -> HelloResult {
    HelloResult { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL, pid: std::process::id() }
}

async fn map(shared: &Arc<Shared>, params: MapParams) -> RpcResult<MapResult> {
    let at = freshness(shared, &params.cwd, params.sync, deadline(shared, None)).await?;
    reading_files(shared, at, move |shared, at| repo_map::map(shared, &params, at)).await
}

async fn status(shared: &Arc<Shared>, params: StatusParams) -> RpcResult<StatusResult> {
    let cwd = params.cwd.clone();
    let at = freshness(shared, &cwd, Sync::None, deadline(shared, None)).await?;
    let views = shared.engine.report_views().await;
    let root = at.layout.root.clone();
    let status = move |shared: &Shared| Ok(status::status(shared, &params, &at, views)?);
    let mut status = reading(shared, &root, status).await?;
    let (memories, notices) = shared.memories.overview().await;
    status.counts.memories = memories;
    // The notices say why they cannot be counted.
    status.anchors = states::counts(shared, &cwd).await.unwrap_or_default();
    status.degraded.extend(notices);
    let index = index_repair::event(&shared.engine.index_db);
    status.degraded.extend(index.map(|event| format!("{event}; `memo doctor --ack` ends this notice")));
    Ok(status)
}

/// Ends the notices of damage that was repaired.
async fn acknowledge(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<AcknowledgeResult> {
    locate(shared, &params.cwd, deadline(shared, None)).await?;
    let memories = shared.memories.acknowledge().await?;
    let index = blocking(shared, |shared| {
        let acknowledged = index_repair::acknowledge(&shared.engine.index_db);
        acknowledged.map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
    });
    Ok(AcknowledgeResult { acknowledged: memories.into_iter().chain(index.await?).collect() })
}

async fn sync(shared: &Arc<Shared>, params: SyncParams) -> RpcResult<SyncResult> {
    let at =
        freshness_with(shared, &params.cwd, params.sync, deadline(shared, params.wait_ms), Vec::new(), true)
            .await?;
    let read = move |shared: &Shared| {
        let read = |reader: &Reader| {
            reader.snapshot(|reader| {
                let pending =
                    Pending { embeddings: reader.pending_embeddings(at.view, u32::MAX)?, ..at.pending };
                let clock = clock(reader, &at)?;
                let (fresh, reason, failed) = (at.fresh, at.reason.clone(), at.failed.clone());
                let embedding = IndexProgress::embedding(pending.embeddings, reader.n_chunks(at.view)?);
                let progress = at.indexing.or(embedding);
                Ok(SyncResult { fresh, reason, pending, clock, progress, failed })
            })
        };
        shared.engine.read(read)
    };
    blocking(shared, read).await
}

/// Empties the index and begins to rebuild it, without waiting.
async fn reindex(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<Value> {
    freshness(shared, &params.cwd, Sync::None, deadline(shared, None)).await?;
    shared.engine.reindex();
    Ok(Value::Object(serde_json::Map::new()))
}
