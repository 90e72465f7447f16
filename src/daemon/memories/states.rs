//! Compares the anchors of memories with the present code.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_engine::errors::RpcResult;
use memod_memory_db::{Anchored, MemoryFilter, Rows};
use memod_proto::anchor::{Anchor, State, StateCounts};
use memod_proto::memory::{ListParams, MemoriesResult, Memory, Sort};
use memod_proto::{AnswerPart, Caveats, Sync};
use serde_json::{Value, json};

use super::queries::{self, at_most};
use super::rules::{Done, memory_filter};
use super::show;
use super::transaction::{Call, locate, read, with_store};
use crate::daemon::memories::anchors::{Judged, is_about, on_snapshot};
use crate::daemon::request::caveats;
use crate::daemon::request::deadline;
use crate::daemon::shared::Shared;

/// Sets the states of the memories with anchors in a result, under `memory` or `memories`.
pub(super) async fn with_states(call: &Call<'_>, mut answer: Value) -> Value {
    let Value::Object(fields) = &mut answer else { return answer };
    let parts = fields.iter_mut().filter(|(name, _)| matches!(name.as_str(), "memory" | "memories"));
    let memories = parts.flat_map(|(_, part)| match part {
        Value::Array(list) => list.iter_mut().collect(),
        one => vec![one],
    });
    let is_about = |memory: &&mut Value| {
        let is_judged = memory.get("state").is_some();
        !is_judged && memory["anchors"].as_array().is_some_and(|list| !list.is_empty())
    };
    let memories: Vec<&mut Value> = memories.filter(is_about).collect();
    if memories.is_empty() {
        return answer;
    }
    let lists =
        memories.iter().map(|memory| serde_json::from_value(memory["anchors"].clone()).unwrap_or_default());
    let until = deadline(call.shared, None);
    match states(call.shared, &call.caller.cwd, Sync::Fs, until, lists.collect()).await {
        Ok(Judged { value, reason }) => {
            for (memory, anchors) in memories.into_iter().zip(value) {
                (memory["state"], memory["anchors"]) = (json!(State::of(&anchors)), json!(anchors));
            }
            note_unsure(reason);
        }
        // The write has succeeded, even if the states cannot be determined.
        Err(error) => note_unsure(Some(error.message)),
    }
    answer
}

/// Notes why the states of memories may be out of date.
pub(in crate::daemon) fn note_unsure(reason: Option<String>) {
    if let Some(why) = reason {
        caveats::note(AnswerPart::Code, format!("states of memories: {why}"));
    }
}

/// Checks the anchors of several memories.
pub(in crate::daemon) async fn states(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    until: Instant,
    lists: Vec<Vec<Anchor>>,
) -> RpcResult<Judged<Vec<Vec<Anchor>>>> {
    on_snapshot(shared, cwd, level, until, move |judge| {
        let mut lists = lists.clone();
        for anchors in &mut lists {
            judge.judge(anchors)?;
        }
        Ok(lists)
    })
    .await
}

/// Counts living memories by their state.
pub(in crate::daemon) async fn counts(shared: &Arc<Shared>, cwd: &str) -> RpcResult<StateCounts> {
    Ok(judged_counts(shared, cwd).await?.value)
}

/// As [`counts`], and says why the numbers may be out of date.
pub(in crate::daemon) async fn judged_counts(
    shared: &Arc<Shared>,
    cwd: &str,
) -> RpcResult<Judged<StateCounts>> {
    let all = anchored(shared, |_| Ok(MemoryFilter::default()), Sort::default()).await?;
    let lists: Vec<_> = all.into_iter().map(|(_, anchors)| anchors).collect();
    let mut counts = StateCounts::default();
    if lists.is_empty() {
        return Ok(Judged::default());
    }
    let Judged { value, reason } = states(shared, cwd, Sync::None, deadline(shared, None), lists).await?;
    for anchors in value {
        match State::of(&anchors) {
            Some(State::Fresh) => counts.fresh += 1,
            Some(State::Drifted) => counts.drifted += 1,
            Some(State::Orphaned) => counts.orphaned += 1,
            None => counts.unknown += 1,
        }
    }
    Ok(Judged { value: counts, reason })
}

/// Returns the anchors of memories by id, leaving out memories without any.
pub(super) async fn anchored(
    shared: &Shared,
    filter: impl Fn(&Rows<'_>) -> Done<MemoryFilter> + Send + 'static,
    sort: Sort,
) -> RpcResult<Vec<Anchored>> {
    read(shared, move |rows| Ok(rows.anchored(&filter(rows)?, sort)?)).await
}

/// Lists memories, if requested only those of some states or about some code.
pub(super) async fn list(call: &Call<'_>) -> RpcResult<Value> {
    let params: ListParams = call.params()?;
    if params.state.is_empty() && params.about.is_empty() {
        return call.read(queries::list).await;
    }
    list_anchored(call.shared, params).await
}

/// Lists memories by their anchors.
pub(in crate::daemon) async fn list_anchored(shared: &Arc<Shared>, params: ListParams) -> RpcResult<Value> {
    let limit = at_most(&params)?;
    let (selection, archived) = (params.selection.clone(), params.archived);
    let meant = move |rows: &Rows<'_>| memory_filter(rows, &selection, archived, rows.now_ms());
    let (ids, lists): (Vec<_>, Vec<_>) = anchored(shared, meant, params.sort).await?.into_iter().unzip();
    let until = deadline(shared, None);
    let Judged { value, reason } = states(shared, &params.caller.cwd, Sync::Fs, until, lists).await?;
    note_unsure(reason);
    let layout = locate(shared, &params.caller).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.caller.cwd));
    let mut judged = Vec::new();
    for (id, anchors) in ids.into_iter().zip(value) {
        if is_wanted(&anchors, &params, &dir)? {
            judged.push((id, anchors));
        }
    }
    let total = judged.len() as u64;
    let offset = usize::try_from(params.offset).unwrap_or(usize::MAX);
    let page: Vec<_> = judged.into_iter().skip(offset).take(limit as usize).collect();
    let read = move |rows: &Rows<'_>| -> Done<Value> {
        let mut memories = Vec::new();
        for (id, anchors) in &page {
            let Some(record) = rows.get(id)? else { continue }; // it has gone meanwhile
            let memory = show::memory(record, rows.now_ms());
            memories.push(Memory { state: State::of(anchors), anchors: anchors.clone(), ..memory });
        }
        Ok(json!(MemoriesResult { memories, total, caveats: Caveats::default() }))
    };
    with_store(shared, move |store, now_ms| store.read(now_ms, read)).await
}

/// Returns whether a memory with these anchors is in a requested state and about a requested place.
fn is_wanted(anchors: &[Anchor], params: &ListParams, dir: &CallerDir) -> RpcResult<bool> {
    if !params.state.is_empty() && !State::of(anchors).is_some_and(|state| params.state.contains(&state)) {
        return Ok(false);
    }
    let mut is_any = params.about.is_empty();
    for target in &params.about {
        for anchor in anchors {
            is_any |= is_about(anchor, target, dir)?;
        }
    }
    Ok(is_any)
}
