//! Maps the name of each method to its function.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_engine::index_repair;
use memod_proto::{
    AcknowledgeResult, CwdParams, DoctorResult, FreshnessLevel, HelloParams, HelloResult, IndexProgress,
    MapParams, MapResult, Method, PROTOCOL, Pending, RpcError, StatusParams, StatusResult, SyncParams,
    SyncResult, code,
};
use serde::Serialize;
use serde_json::Value;

use crate::daemon::completing;
use crate::daemon::context::advice;
use crate::daemon::context::briefing;
use crate::daemon::githooks::{self, HooksMethod};
use crate::daemon::history::changed;
use crate::daemon::history::why;
use crate::daemon::llm_methods;
use crate::daemon::memories::about_code::anchor_states;
use crate::daemon::memories::memory_files::check_files::check_unmerged;
use crate::daemon::memories::methods::memory_methods as memories;
use crate::daemon::memories::team_memories::team_sync;
use crate::daemon::memories::worktree_files::enter_worktree::enter_worktree;
use crate::daemon::model_methods::{self, ModelMethod};
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::memory_scope::WORKTREE;
use crate::daemon::request::request_errors::unknown_method_error;
use crate::daemon::request::{
    format_clock, locate_worktree, parse_params, request_deadline, run_blocking, run_reading,
    run_reading_files, wait_until_fresh, wait_until_fresh_with,
};
use crate::daemon::search;
use crate::daemon::shared::Shared;
use crate::daemon::status;
use crate::daemon::structure::file_outline;
use crate::daemon::structure::repo_map;
use crate::daemon::structure::show_code;
use crate::daemon::structure::uses;
use crate::daemon::structure::uses::UseQuestion;
use crate::daemon::subscribing;

/// Runs one method. What its answer owes is written here, and nowhere else.
pub(super) async fn call_method(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    let Some(method) = Method::find_method(method) else {
        return Err(unknown_method_error(method)); // a method must be documented to be called
    };
    shared.engine.note_use();
    let caveats = Arc::new(NotedCaveats::default());
    let request = async {
        let worktree = enter_worktree(shared, method, &params).await?;
        WORKTREE.scope(worktree, call_in_worktree(shared, method.name, params)).await
    };
    let mut result = caveats.run_request(request).await?;
    caveats.write_into(method, &mut result);
    Ok(result)
}

/// Runs one method with the memories that the worktree of the caller has.
async fn call_in_worktree(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    match method {
        "hello" => to_json(&answer_hello(&parse_params::<HelloParams>(params)?)),
        "search" => to_json(&search::answer_search(shared, parse_params(params)?).await?),
        "brief" => to_json(&briefing::answer_brief(shared, parse_params(params)?).await?),
        "advise" => to_json(&advice::answer_advise(shared, parse_params(params)?).await?),
        "map" => to_json(&answer_map(shared, parse_params(params)?).await?),
        "changed" => to_json(&changed::answer_changed(shared, parse_params(params)?).await?),
        "complete" => to_json(&completing::answer_complete(shared, parse_params(params)?).await?),
        "show" => to_json(&show_code::answer_show(shared, parse_params(params)?).await?),
        "outline" => to_json(&file_outline::answer_outline(shared, parse_params(params)?).await?),
        "refs" => to_json(&uses::answer_refs(shared, parse_params(params)?).await?),
        "callers" => {
            to_json(&uses::answer_use_question(shared, UseQuestion::Callers, parse_params(params)?).await?)
        }
        "callees" => {
            to_json(&uses::answer_use_question(shared, UseQuestion::Callees, parse_params(params)?).await?)
        }
        "impact" => {
            to_json(&uses::answer_use_question(shared, UseQuestion::Impact, parse_params(params)?).await?)
        }
        "tests" => {
            to_json(&uses::answer_use_question(shared, UseQuestion::Tests, parse_params(params)?).await?)
        }
        "implements" => {
            to_json(&uses::answer_use_question(shared, UseQuestion::Implements, parse_params(params)?).await?)
        }
        "why" => to_json(&why::answer_why(shared, parse_params(params)?).await?),
        "status" => to_json(&answer_status(shared, parse_params(params)?).await?),
        "sync" => to_json(&answer_sync(shared, parse_params(params)?).await?),
        "subscribe" => to_json(&subscribing::answer_subscribe(shared, parse_params(params)?).await?),
        "unsubscribe" => {
            subscribing::answer_unsubscribe().await.map(|()| Value::Object(serde_json::Map::new()))
        }
        "reindex" => to_json(&answer_reindex(shared, parse_params(params)?).await?),
        "doctor" => to_json(&answer_doctor(shared, parse_params(params)?).await?),
        "doctor.acknowledge" => to_json(&answer_acknowledge(shared, parse_params(params)?).await?),
        "hooks.install" => {
            to_json(&githooks::answer_hooks(shared, HooksMethod::Install, parse_params(params)?).await?)
        }
        "hooks.uninstall" => {
            to_json(&githooks::answer_hooks(shared, HooksMethod::Uninstall, parse_params(params)?).await?)
        }
        "hooks.status" => {
            to_json(&githooks::answer_hooks(shared, HooksMethod::Status, parse_params(params)?).await?)
        }
        "model.list" => {
            to_json(&model_methods::answer_models(shared, ModelMethod::List, parse_params(params)?).await?)
        }
        "model.import" => {
            to_json(&model_methods::answer_models(shared, ModelMethod::Import, parse_params(params)?).await?)
        }
        "model.use" => {
            to_json(&model_methods::answer_models(shared, ModelMethod::Use, parse_params(params)?).await?)
        }
        "model.remove" => {
            to_json(&model_methods::answer_models(shared, ModelMethod::Remove, parse_params(params)?).await?)
        }
        "llm.status" => to_json(&llm_methods::answer_status(shared, parse_params(params)?).await?),
        "llm.expand" => to_json(&llm_methods::answer_expand(shared, parse_params(params)?).await?),
        "llm.summarise" => to_json(&llm_methods::answer_summarise(shared, parse_params(params)?).await?),
        "llm.compare" => to_json(&llm_methods::answer_compare(shared, parse_params(params)?).await?),
        "llm.suggest" => to_json(&llm_methods::answer_suggest(shared, parse_params(params)?).await?),
        "llm.distil" => to_json(&llm_methods::answer_distil(shared, parse_params(params)?).await?),
        "stop" => {
            shared.engine.stop("asked to");
            Ok(Value::Object(serde_json::Map::new()))
        }
        "team.status" => to_json(&team_sync::show_status(shared, parse_params(params)?).await?),
        "team.sync" => to_json(&team_sync::sync_now(shared, parse_params(params)?).await?),
        "team.leave" => to_json(&team_sync::leave_team(shared, parse_params(params)?).await?),
        "team.members" => to_json(&team_sync::list_members(shared, parse_params(params)?).await?),
        _ if method.starts_with("memory.") => memories::call_method(shared, method, params).await,
        _ => Err(unknown_method_error(method)),
    }
}

fn to_json(result: &impl Serialize) -> RpcResult<Value> {
    serde_json::to_value(result).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}

fn answer_hello(_: &HelloParams) -> HelloResult {
    HelloResult { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL, pid: std::process::id() }
}

async fn answer_map(shared: &Arc<Shared>, params: MapParams) -> RpcResult<MapResult> {
    let at = wait_until_fresh(shared, &params.cwd, params.sync, request_deadline(shared, None)).await?;
    run_reading_files(shared, at, move |shared, at| repo_map::answer_map(shared, &params, at)).await
}

async fn answer_status(shared: &Arc<Shared>, params: StatusParams) -> RpcResult<StatusResult> {
    let cwd = params.cwd.clone();
    let at = wait_until_fresh(shared, &cwd, FreshnessLevel::None, request_deadline(shared, None)).await?;
    let views = shared.engine.report_worktrees().await;
    let root = at.layout.root.clone();
    let collecting =
        run_reading(shared, &root, move |shared| Ok(status::collect_status(shared, &params, &at, views)?));
    let mut status = collecting.await?;
    let (memories, notices) = shared.memories.read_overview().await;
    status.counts.memories = memories;
    // The notices say why they cannot be counted.
    status.anchors = anchor_states::count_states(shared, &cwd).await.unwrap_or_default();
    status.degraded.extend(notices);
    let index = index_repair::pending_repair(&shared.engine.index_db);
    status.degraded.extend(index.map(|event| format!("{event}; `memo doctor --ack` ends this notice")));
    Ok(status)
}

async fn answer_doctor(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<DoctorResult> {
    let layout = locate_worktree(shared, &params.cwd, request_deadline(shared, None)).await?;
    let worktrees = shared.engine.report_worktrees().await;
    let mut result = run_blocking(shared, move |shared| Ok(status::run_checks(shared, &worktrees))).await?;
    result.checks.extend(shared.memories.check_database().await);
    result.checks.extend(shared.memories.check_files().await);
    result.checks.extend(shared.memories.check_worktrees(&layout).await);
    result.checks.extend(check_unmerged(shared, &params.cwd).await);
    result.checks.extend(team_sync::check_exchange(shared).await);
    let states = anchor_states::count_states(shared, &params.cwd).await.unwrap_or_default();
    result.checks.extend(status::check_anchors(&states));
    Ok(result)
}

/// Ends the notices of damage that was repaired.
async fn answer_acknowledge(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<AcknowledgeResult> {
    locate_worktree(shared, &params.cwd, request_deadline(shared, None)).await?;
    let memories = shared.memories.acknowledge_repair().await?;
    let index = run_blocking(shared, |shared| {
        let acknowledged = index_repair::acknowledge_repair(&shared.engine.index_db);
        acknowledged.map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
    });
    Ok(AcknowledgeResult { acknowledged: memories.into_iter().chain(index.await?).collect() })
}

async fn answer_sync(shared: &Arc<Shared>, params: SyncParams) -> RpcResult<SyncResult> {
    let at = wait_until_fresh_with(
        shared,
        &params.cwd,
        params.sync,
        request_deadline(shared, params.wait_ms),
        Vec::new(),
        true,
    )
    .await?;
    run_blocking(shared, move |shared| {
        shared.engine.read(|reader| {
            reader.read_snapshot(|reader| {
                let pending =
                    Pending { embeddings: reader.pending_embeddings(at.worktree, u32::MAX)?, ..at.pending };
                let clock = format_clock(reader, &at)?;
                let (fresh, reason, failed) = (at.fresh, at.reason.clone(), at.failed.clone());
                let embedding = IndexProgress::embedding(pending.embeddings, reader.n_chunks(at.worktree)?);
                let progress = at.indexing.or(embedding);
                Ok(SyncResult { fresh, reason, pending, clock, progress, failed })
            })
        })
    })
    .await
}

/// Empties the index and begins to rebuild it, without waiting.
async fn answer_reindex(shared: &Arc<Shared>, params: CwdParams) -> RpcResult<Value> {
    wait_until_fresh(shared, &params.cwd, FreshnessLevel::None, request_deadline(shared, None)).await?;
    shared.engine.reindex();
    Ok(Value::Object(serde_json::Map::new()))
}
