//! Recalls memories: finds them, and extends the lifetime of those that match clearly.

use std::collections::HashSet;

use memod_base::paths::CallerDir;
use memod_base::types::ChunkKind;
use memod_engine::errors::RpcResult;
use memod_memory::tiers::Retention;
use memod_memory_db::{FileSide, MemoryEvent, MemoryRecord, MemoryRows};
use memod_proto::memory::{Memory, PromoteParams, RecallParams, RecallResult, Recalled, UpdateResult};
use memod_proto::{Caveats, SearchMode, SearchParams};
use memod_search::memory_search::FoundMemory;
use serde_json::Value;

use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, find_living, refused_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_errors::bad_params_error;

/// Default number of memories.
const DEFAULT_LIMIT: usize = 10;
/// Maximum number of memories.
const MAX_LIMIT: usize = 200;

/// A memory that the search found.
struct RecallHit {
    id: String,
    score: f64,
    /// Whether to reinforce the memory; otherwise the memory is only shown.
    is_reinforced: bool,
    /// The memory, if it is a copy from another repository.
    copy: Option<MemoryRecord>,
    /// The other side of a conflict, if the search found that side.
    other_side: Option<MemoryRecord>,
    superseded_by: Vec<String>,
}

/// Answers `memory.recall`: searches memories, then reinforces in one transaction those that match by a word or are clearly near.
pub(in crate::daemon::memories) async fn recall_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write_with_found(find_hits(call), reinforce_hits).await
}

/// Searches the memories, and returns the hits, best first.
async fn find_hits(call: &MethodCall<'_>) -> RpcResult<Vec<RecallHit>> {
    let params: RecallParams = call.parse_params()?;
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(bad_params_error(format!("limit: {limit} is not between 1 and {MAX_LIMIT}")));
    }
    if params.query.trim().is_empty() {
        return Err(bad_params_error("query: empty").with_hint("say in some words what to recall"));
    }
    let search = SearchParams {
        query: params.query,
        kind: vec![ChunkKind::Memory],
        mode: params.mode,
        container: params.container,
        tag: params.tags,
        since: params.since,
        until: params.until,
        traits: params.traits,
        ..SearchParams::default()
    };
    let scope = SearchScope::from_params(&search, &CallerDir::default())?;
    let min_cosine = call.request.shared.engine.config.search.min_cosine;
    let Some(mut wanted) = scope.build_memory_request(&search, limit, min_cosine) else {
        return Ok(Vec::new());
    };
    run_blocking(call.request, move |request| {
        if wanted.mode != SearchMode::Keyword {
            wanted.set_query_vector(
                request.shared.memories.load_ready_model().as_deref().map_err(String::as_str),
            );
        }
        Ok(request.memories().find_memories(&wanted)?.found.into_iter().map(to_recall_hit).collect())
    })
    .await
}

fn to_recall_hit(FoundMemory { ranked, record }: FoundMemory) -> RecallHit {
    RecallHit {
        is_reinforced: record.repository.is_none() && ranked.candidate.is_clear_match(),
        id: record.id.clone(),
        score: ranked.score,
        superseded_by: ranked.candidate.facts.successors,
        other_side: (record.side == FileSide::Theirs).then(|| record.clone()),
        copy: record.repository.is_some().then_some(record),
    }
}

/// Reinforces the found memories, and returns them. Leaves out memories that were deleted or archived meanwhile.
fn reinforce_hits(
    rows: &MemoryRows<'_>,
    hits: &Vec<RecallHit>,
    stamp: &ChangeStamp,
) -> JobResult<RecallResult> {
    let (mut memories, mut reinforced) = (Vec::new(), HashSet::new());
    for RecallHit { id, score, is_reinforced, copy, other_side: theirs, superseded_by } in hits {
        // Both sides of a conflict are one memory.
        let is_reinforced = *is_reinforced && reinforced.insert(id);
        let found = copy.clone().map_or_else(|| rows.records().find_memory(id), |copy| Ok(Some(copy)))?;
        let Some(before) = found.filter(|record| record.is_living(stamp.now_ms)) else { continue };
        let after = match is_reinforced {
            true => {
                let mut retention = stamp.tiers.recalled(get_retention(&before), stamp.now_ms);
                if before.is_shared_or_team() {
                    // Of a shared memory only the recall count may change: the other fields are in the file.
                    let access_count = retention.access_count;
                    retention = Retention { access_count, ..get_retention(&before) };
                }
                MemoryRecord { last_access: Some(stamp.now_ms), ..with_retention(&before, retention) }
            }
            false => before.clone(),
        };
        let changed = protocol_values::diff_fields(&before, &after);
        if is_reinforced {
            let event = MemoryEvent { fields: changed.clone(), ..stamp.new_event("recall") };
            match after.is_shared_or_team() {
                true => rows.put_recall(&after, &event)?,
                false => rows.put_retention(&after, &event)?,
            }
        }
        let (last_access, access_count) = (after.last_access, after.access_count);
        let after =
            theirs.clone().map_or(after, |theirs| MemoryRecord { last_access, access_count, ..theirs });
        let superseded_by = superseded_by.clone();
        let memory = Memory { superseded_by, ..protocol_values::to_memory(after, stamp.now_ms) };
        memories.push(Recalled { memory, score: *score, changed });
    }
    Ok(RecallResult { memories, caveats: Caveats::default() })
}

/// Answers `memory.promote`: moves a memory up one tier, or to the tier that the params name.
pub(in crate::daemon::memories) fn promote_memory(
    rows: &MemoryRows<'_>,
    params: &PromoteParams,
    stamp: &ChangeStamp,
) -> JobResult<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    if let Some(to) = params.to.filter(|to| *to < before.tier) {
        let message = format!("to: {} is of tier {}, above {}", before.id, before.tier.as_str(), to.as_str());
        return Err(refused_error(message, "`memo update --tier` lowers a tier"));
    }
    let Some(after) = stamp.tiers.promoted(get_retention(&before), params.to, stamp.now_ms) else {
        return Ok(UpdateResult {
            memory: protocol_values::to_memory(before, stamp.now_ms),
            ..UpdateResult::default()
        });
    };
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = MemoryRecord { updated, ..with_retention(&before, after) };
    let fields = protocol_values::diff_fields(&before, &after);
    let changed = fields.keys().cloned().collect();
    let event = MemoryEvent { fields, ..stamp.new_event("promote") };
    match after.is_shared_or_team() {
        true => rows.put_memory(
            &MemoryRecord { expires_at: None, ..after.clone() },
            &derive_data(&after),
            &event,
        )?,
        false => rows.put_retention(&after, &event)?,
    }
    Ok(UpdateResult {
        changed,
        memory: protocol_values::to_memory(after, stamp.now_ms),
        ..UpdateResult::default()
    })
}

fn get_retention(record: &MemoryRecord) -> Retention {
    let MemoryRecord { tier, expires_at, priority, access_count, .. } = *record;
    Retention { tier, expires_at, priority, access_count }
}

fn with_retention(record: &MemoryRecord, retention: Retention) -> MemoryRecord {
    let Retention { tier, expires_at, priority, access_count } = retention;
    MemoryRecord { tier, expires_at, priority, access_count, ..record.clone() }
}
