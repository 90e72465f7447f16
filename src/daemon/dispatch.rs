//! Maps the name of each method to its function.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_engine::own_files::index_repair;
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
use crate::daemon::memories::memory_methods as memories;
use crate::daemon::memories::team_memories::team_sync;
use crate::daemon::memories::worktree_files::enter_worktree::prepare_worktree_scope;
use crate::daemon::model_methods::{self, ModelMethod};
use crate::daemon::request::fresh_snapshot::{
    format_clock, question_deadline, request_deadline, wait_until_fresh, wait_until_fresh_with,
};
use crate::daemon::request::reader_threads::{run_blocking, run_reading, run_reading_files};
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};
use crate::daemon::request::request_errors::unknown_method_error;
use crate::daemon::request::request_params::parse_params;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::search;
use crate::daemon::shared::Shared;
use crate::daemon::status;
use crate::daemon::structure::file_outline;
use crate::daemon::structure::repo_map;
use crate::daemon::structure::show_code;
use crate::daemon::structure::uses;
use crate::daemon::structure::uses::UseQuestion;
use crate::daemon::subscribing;

/// Runs one method, and writes the caveats of the request into its result, which no other place does.
pub(super) async fn call_method(
    shared: &Arc<Shared>,
    origin: RequestOrigin,
    method: &str,
    params: Value,
) -> RpcResult<Value> {
    let Some(method) = Method::find_method(method) else {
        return Err(unknown_method_error(method)); // only documented methods can be called
    };
    shared.engine.record_use();
    let request = RequestContext::new(shared, origin);
    request.set_worktree(prepare_worktree_scope(&request, method, &params).await?);
    let mut result = call_in_worktree(&request, method.name, params).await?;
    request.caveats.write_into_result(method, &mut result);
    Ok(result)
}

/// Runs one method for a request that is bound to the memories of its worktree.
async fn call_in_worktree(request: &Arc<RequestContext>, method: &str, params: Value) -> RpcResult<Value> {
    match method {
        "hello" => to_json(&answer_hello(&parse_params::<HelloParams>(params)?)),
        "search" => to_json(&search::answer_search(request, parse_params(params)?).await?),
        "brief" => to_json(&briefing::answer_brief(request, parse_params(params)?).await?),
        "advise" => to_json(&advice::answer_advise(request, parse_params(params)?).await?),
        "map" => to_json(&answer_map(request, parse_params(params)?).await?),
        "changed" => to_json(&changed::answer_changed(request, parse_params(params)?).await?),
        "complete" => to_json(&completing::answer_complete(request, parse_params(params)?).await?),
        "show" => to_json(&show_code::answer_show(request, parse_params(params)?).await?),
        "outline" => to_json(&file_outline::answer_outline(request, parse_params(params)?).await?),
        "refs" => to_json(&uses::answer_refs(request, parse_params(params)?).await?),
        "callers" => {
            to_json(&uses::answer_use_question(request, UseQuestion::Callers, parse_params(params)?).await?)
        }
        "callees" => {
            to_json(&uses::answer_use_question(request, UseQuestion::Callees, parse_params(params)?).await?)
        }
        "impact" => {
            to_json(&uses::answer_use_question(request, UseQuestion::Impact, parse_params(params)?).await?)
        }
        "tests" => {
            to_json(&uses::answer_use_question(request, UseQuestion::Tests, parse_params(params)?).await?)
        }
        "implements" => to_json(
            &uses::answer_use_question(request, UseQuestion::Implements, parse_params(params)?).await?,
        ),
        "why" => to_json(&why::answer_why(request, parse_params(params)?).await?),
        "status" => to_json(&answer_status(request, parse_params(params)?).await?),
        "sync" => to_json(&answer_sync(request, parse_params(params)?).await?),
        "subscribe" => to_json(&subscribing::answer_subscribe(request, parse_params(params)?).await?),
        "unsubscribe" => {
            subscribing::answer_unsubscribe(request).await.map(|()| Value::Object(serde_json::Map::new()))
        }
        "reindex" => to_json(&answer_reindex(request, parse_params(params)?).await?),
        "doctor" => to_json(&answer_doctor(request, parse_params(params)?).await?),
        "doctor.acknowledge" => to_json(&answer_acknowledge(request, parse_params(params)?).await?),
        "hooks.install" => {
            to_json(&githooks::answer_hooks(request, HooksMethod::Install, parse_params(params)?).await?)
        }
        "hooks.uninstall" => {
            to_json(&githooks::answer_hooks(request, HooksMethod::Uninstall, parse_params(params)?).await?)
        }
        "hooks.status" => {
            to_json(&githooks::answer_hooks(request, HooksMethod::Status, parse_params(params)?).await?)
        }
        "model.list" => {
            to_json(&model_methods::answer_models(request, ModelMethod::List, parse_params(params)?).await?)
        }
        "model.import" => {
            to_json(&model_methods::answer_models(request, ModelMethod::Import, parse_params(params)?).await?)
        }
        "model.use" => {
            to_json(&model_methods::answer_models(request, ModelMethod::Use, parse_params(params)?).await?)
        }
        "model.remove" => {
            to_json(&model_methods::answer_models(request, ModelMethod::Remove, parse_params(params)?).await?)
        }
        "llm.status" => to_json(&llm_methods::answer_status(request, parse_params(params)?).await?),
        "llm.expand" => to_json(&llm_methods::answer_expand(request, parse_params(params)?).await?),
        "llm.summarise" => to_json(&llm_methods::answer_summarise(request, parse_params(params)?).await?),
        "llm.compare" => to_json(&llm_methods::answer_compare(request, parse_params(params)?).await?),
        "llm.suggest" => to_json(&llm_methods::answer_suggest(request, parse_params(params)?).await?),
        "llm.distil" => to_json(&llm_methods::answer_distil(request, parse_params(params)?).await?),
        "stop" => {
            request.shared.engine.stop("asked to");
            Ok(Value::Object(serde_json::Map::new()))
        }
        "team.status" => to_json(&team_sync::read_team_status(request, parse_params(params)?).await?),
        "team.sync" => to_json(&team_sync::sync_now(request, parse_params(params)?).await?),
        "team.leave" => to_json(&team_sync::leave_team(request, parse_params(params)?).await?),
        "team.members" => to_json(&team_sync::list_members(request, parse_params(params)?).await?),
        _ if method.starts_with("memory.") => memories::call_method(request, method, params).await,
        _ => Err(unknown_method_error(method)),
    }
}

fn to_json(result: &impl Serialize) -> RpcResult<Value> {
    serde_json::to_value(result).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}

fn answer_hello(_: &HelloParams) -> HelloResult {
    HelloResult { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL, pid: std::process::id() }
}

async fn answer_map(request: &Arc<RequestContext>, params: MapParams) -> RpcResult<MapResult> {
    let at = wait_until_fresh(request, &params.cwd, params.sync, question_deadline(request, None)).await?;
    run_reading_files(request, at, move |request, at| repo_map::answer_map(&request.shared, &params, at))
        .await
}

async fn answer_status(request: &Arc<RequestContext>, params: StatusParams) -> RpcResult<StatusResult> {
    let cwd = params.cwd.clone();
    let at = wait_until_fresh(request, &cwd, FreshnessLevel::None, request_deadline(request, None)).await?;
    let views = request.shared.engine.report_worktrees().await;
    let root = at.layout.root.clone();
    let collecting = run_reading(request, &root, move |request| {
        Ok(status::collect_status(&request.shared, &params, &at, views)?)
    });
    let mut status = collecting.await?;
    let (memories, notices) = request.memories().read_count_and_notices().await;
    status.counts.memories = memories;
    // If the states of memories cannot be counted, the notices say why.
    status.anchors = anchor_states::count_memories_by_state(request, &cwd).await.unwrap_or_default();
    status.degraded.extend(notices);
    let index = index_repair::pending_repair_details(&request.shared.engine.index_db);
    status.degraded.extend(index.map(|event| format!("{event}; `memo doctor --ack` ends this notice")));
    Ok(status)
}

async fn answer_doctor(request: &Arc<RequestContext>, params: CwdParams) -> RpcResult<DoctorResult> {
    let layout = locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let worktrees = request.shared.engine.report_worktrees().await;
    let mut result =
        run_blocking(request, move |request| Ok(status::run_checks(&request.shared, &worktrees))).await?;
    result.checks.extend(request.memories().check_database().await);
    result.checks.extend(request.memories().check_files(&request.caveats).await);
    result.checks.extend(request.shared.memories.check_worktrees(&layout).await);
    result.checks.extend(check_unmerged(request, &params.cwd).await);
    result.checks.extend(team_sync::check_exchange(&request.shared).await);
    let states = anchor_states::count_memories_by_state(request, &params.cwd).await.unwrap_or_default();
    result.checks.extend(status::check_anchors(&states));
    Ok(result)
}

/// Answers `doctor.acknowledge`: ends the notices about damage that was repaired.
async fn answer_acknowledge(
    request: &Arc<RequestContext>,
    params: CwdParams,
) -> RpcResult<AcknowledgeResult> {
    locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let memories = request.memories().acknowledge_repair().await?;
    let index = run_blocking(request, |request| {
        let acknowledged = index_repair::acknowledge_repair(&request.shared.engine.index_db);
        acknowledged.map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
    });
    Ok(AcknowledgeResult { acknowledged: memories.into_iter().chain(index.await?).collect() })
}

async fn answer_sync(request: &Arc<RequestContext>, params: SyncParams) -> RpcResult<SyncResult> {
    let at = wait_until_fresh_with(
        request,
        &params.cwd,
        params.sync,
        request_deadline(request, params.wait_ms),
        Vec::new(),
        true,
    )
    .await?;
    run_blocking(request, move |request| {
        request.shared.engine.with_reader(|reader| {
            reader.read_snapshot(|reader| {
                let pending = Pending {
                    embeddings: reader.count_pending_embeddings(at.worktree, u32::MAX)?,
                    ..at.pending
                };
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

/// Answers `reindex`: empties the index and begins to rebuild it, without waiting for the end.
async fn answer_reindex(request: &Arc<RequestContext>, params: CwdParams) -> RpcResult<Value> {
    wait_until_fresh(request, &params.cwd, FreshnessLevel::None, request_deadline(request, None)).await?;
    request.shared.engine.reindex();
    Ok(Value::Object(serde_json::Map::new()))
}
