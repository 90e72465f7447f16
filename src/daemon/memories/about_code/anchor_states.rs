//! Compares the anchors of memories with the present code.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_engine::errors::RpcResult;
use memod_memory_db::{AnchoredMemory, MemoryFilter, MemoryRows};
use memod_proto::anchor::{Anchor, AnchorState, StateCounts};
use memod_proto::memory::{ListParams, MemoriesResult, Memory, MemorySort};
use memod_proto::{AnswerPart, Caveats, FreshnessLevel};
use serde_json::{Value, json};

use crate::daemon::memories::anchors::{SnapshotResult, is_anchor_at_target, run_anchor_check};
use crate::daemon::memories::calls::method_call::{MethodCall, locate_caller, read, run_on_store};
use crate::daemon::memories::finding::queries::{self, parse_page_limit};
use crate::daemon::memories::rules::memory_rules::{JobResult, parse_selection};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::caveats::NotedCaveats;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_context::RequestContext;

/// Returns the result of a method, with the state of each memory that has anchors. The memories are under `memory` or `memories`.
pub(in crate::daemon::memories) async fn add_states(call: &MethodCall<'_>, mut answer: Value) -> Value {
    let Value::Object(fields) = &mut answer else { return answer };
    let parts = fields.iter_mut().filter(|(name, _)| matches!(name.as_str(), "memory" | "memories"));
    let memories = parts.flat_map(|(_, part)| match part {
        Value::Array(list) => list.iter_mut().collect(),
        one => vec![one],
    });
    let memories: Vec<&mut Value> = memories
        .filter(|memory| {
            let has_state = memory.get("state").is_some();
            !has_state && memory["anchors"].as_array().is_some_and(|list| !list.is_empty())
        })
        .collect();
    if memories.is_empty() {
        return answer;
    }
    let lists =
        memories.iter().map(|memory| serde_json::from_value(memory["anchors"].clone()).unwrap_or_default());
    let until = request_deadline(call.request, None);
    match check_states(call.request, &call.caller.cwd, FreshnessLevel::Fs, until, lists.collect()).await {
        Ok(SnapshotResult { value, reason }) => {
            for (memory, anchors) in memories.into_iter().zip(value) {
                (memory["state"], memory["anchors"]) =
                    (json!(AnchorState::from_anchors(&anchors)), json!(anchors));
            }
            note_uncertain_states(&call.request.caveats, reason);
        }
        // The write has succeeded, even if the states cannot be determined.
        Err(error) => note_uncertain_states(&call.request.caveats, Some(error.message)),
    }
    answer
}

/// Adds a caveat if there is a reason why the states of memories may be out of date.
pub(in crate::daemon) fn note_uncertain_states(caveats: &NotedCaveats, reason: Option<String>) {
    if let Some(why) = reason {
        caveats.note_caveat(AnswerPart::Code, format!("states of memories: {why}"));
    }
}

/// Returns the anchors of several memories, with their states in one snapshot of the worktree.
pub(in crate::daemon) async fn check_states(
    request: &Arc<RequestContext>,
    cwd: &str,
    level: FreshnessLevel,
    until: Instant,
    lists: Vec<Vec<Anchor>>,
) -> RpcResult<SnapshotResult<Vec<Vec<Anchor>>>> {
    run_anchor_check(request, cwd, level, until, move |checker| {
        let mut lists = lists.clone();
        for anchors in &mut lists {
            checker.check_all(anchors)?;
        }
        Ok(lists)
    })
    .await
}

/// Counts the living memories with anchors by their state.
pub(in crate::daemon) async fn count_memories_by_state(
    request: &Arc<RequestContext>,
    cwd: &str,
) -> RpcResult<StateCounts> {
    Ok(count_memories_by_state_with_reason(request, cwd).await?.value)
}

/// Like [`count_memories_by_state`], but also returns the reason why the numbers may be out of date.
pub(in crate::daemon) async fn count_memories_by_state_with_reason(
    request: &Arc<RequestContext>,
    cwd: &str,
) -> RpcResult<SnapshotResult<StateCounts>> {
    let all = read_memory_anchors(request, |_| Ok(MemoryFilter::default()), MemorySort::default()).await?;
    let lists: Vec<_> = all.into_iter().map(|(_, anchors)| anchors).collect();
    let mut counts = StateCounts::default();
    if lists.is_empty() {
        return Ok(SnapshotResult::default());
    }
    let SnapshotResult { value, reason } =
        check_states(request, cwd, FreshnessLevel::None, request_deadline(request, None), lists).await?;
    for anchors in value {
        match AnchorState::from_anchors(&anchors) {
            Some(AnchorState::Fresh) => counts.fresh += 1,
            Some(AnchorState::Drifted) => counts.drifted += 1,
            Some(AnchorState::Orphaned) => counts.orphaned += 1,
            None => counts.unknown += 1,
        }
    }
    Ok(SnapshotResult { value: counts, reason })
}

/// Returns the ids and the anchors of the selected memories. Memories without anchors are left out.
pub(super) async fn read_memory_anchors(
    request: &RequestContext,
    filter: impl Fn(&MemoryRows<'_>) -> JobResult<MemoryFilter> + Send + 'static,
    sort: MemorySort,
) -> RpcResult<Vec<AnchoredMemory>> {
    read(request, move |rows| Ok(rows.anchors().list_anchored(&filter(rows)?, sort)?)).await
}

/// Answers `memory.list`: lists all selected memories, or only those in given states or about given code.
pub(in crate::daemon::memories) async fn list_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: ListParams = call.parse_params()?;
    if params.state.is_empty() && params.about.is_empty() {
        return call.read(queries::list_page).await;
    }
    list_memories_by_anchors(call.request, params).await
}

/// Lists the selected memories that are in one of the given states and about one of the given targets.
pub(in crate::daemon) async fn list_memories_by_anchors(
    request: &Arc<RequestContext>,
    params: ListParams,
) -> RpcResult<Value> {
    let limit = parse_page_limit(&params)?;
    let (selection, archived) = (params.selection.clone(), params.archived);
    let (ids, lists): (Vec<_>, Vec<_>) = read_memory_anchors(
        request,
        move |rows: &MemoryRows<'_>| parse_selection(rows, &selection, archived, rows.now_ms()),
        params.sort,
    )
    .await?
    .into_iter()
    .unzip();
    let until = request_deadline(request, None);
    let SnapshotResult { value, reason } =
        check_states(request, &params.caller.cwd, FreshnessLevel::Fs, until, lists).await?;
    note_uncertain_states(&request.caveats, reason);
    let layout = locate_caller(request, &params.caller).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.caller.cwd));
    let mut checked = Vec::new();
    for (id, anchors) in ids.into_iter().zip(value) {
        if is_wanted(&anchors, &params, &dir)? {
            checked.push((id, anchors));
        }
    }
    let total = checked.len() as u64;
    let offset = usize::try_from(params.offset).unwrap_or(usize::MAX);
    let page: Vec<_> = checked.into_iter().skip(offset).take(limit as usize).collect();
    run_on_store(request, move |store, now_ms| {
        store.read(now_ms, move |rows: &MemoryRows<'_>| -> JobResult<Value> {
            let mut memories = Vec::new();
            for (id, anchors) in &page {
                let Some(record) = rows.records().find_memory(id)? else { continue }; // it was deleted meanwhile
                let memory = protocol_values::to_memory(record, rows.now_ms());
                memories.push(Memory {
                    state: AnchorState::from_anchors(anchors),
                    anchors: anchors.clone(),
                    ..memory
                });
            }
            Ok(json!(MemoriesResult { memories, total, caveats: Caveats::default() }))
        })
    })
    .await
}

/// Returns whether a memory with these anchors is in a requested state and about a requested target.
fn is_wanted(anchors: &[Anchor], params: &ListParams, dir: &CallerDir) -> RpcResult<bool> {
    if !params.state.is_empty()
        && !AnchorState::from_anchors(anchors).is_some_and(|state| params.state.contains(&state))
    {
        return Ok(false);
    }
    let mut is_any = params.about.is_empty();
    for target in &params.about {
        for anchor in anchors {
            is_any |= is_anchor_at_target(anchor, target, dir)?;
        }
    }
    Ok(is_any)
}
