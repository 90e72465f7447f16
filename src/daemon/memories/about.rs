//! Ties memories to code, and judges in which state that code is now.
//!
//! What a memory is about is found in the worktree before it is written down; its state is told of whatever goes out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::{Stamp, locate, read, write};
use super::now_ms;
use super::queries::{at_most, named};
use super::rules::{Done, find, find_living, memory_filter, refused};
use super::show;
use crate::daemon::anchors::{AnchorChecker, Judged, named_by, on_snapshot, resolve};
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::request::{deadline, params_of};
use crate::daemon::shared::Shared;
use crate::memory::anchor::MOST;
use crate::paths::RepoLayout;
use crate::proto::Sync;
use crate::proto::anchor::{Anchor, State, StateCounts};
use crate::proto::memory::{Caller, ConfirmParams, IdsParams, ListParams, MemoriesResult, UpdateResult};
use crate::store::{Anchored, MemoryEvent, MemoryFilter, MemoryStore, Record, Rows};

/// How long it may take until a file is indexed that a memory is about.
const PATIENCE: Duration = Duration::from_secs(10);

/// Finds what `about` and `add_about` of some params name, and puts it into them as anchors.
pub(super) async fn resolved(shared: &Arc<Shared>, mut params: Value) -> RpcResult<Value> {
    let list = |name: &str| -> RpcResult<Vec<String>> {
        params.get(name).map_or(Ok(Vec::new()), |list| params_of_list(name, list))
    };
    let targets = [list("about")?, list("add_about")?].concat();
    if targets.is_empty() {
        return Ok(params);
    }
    let caller: Caller = params_of(params.clone())?;
    locate(shared, &caller)?;
    let wait = Some(PATIENCE.as_millis() as u64);
    let cwd = caller.cwd.clone();
    let all = move |judge: &mut AnchorChecker<'_>| -> RpcResult<Vec<Anchor>> {
        targets.iter().map(|target| resolve(judge, target, &cwd)).collect()
    };
    let found = on_snapshot(shared, &caller.cwd, Sync::Fs, deadline(shared, wait), all).await?;
    params["anchors"] = json!(found.sure()?);
    Ok(params)
}

fn params_of_list(name: &str, list: &Value) -> RpcResult<Vec<String>> {
    let bad = |error| bad_params(format!("params: {name}: {error}"));
    serde_json::from_value(list.clone()).map_err(bad)
}

/// Returns the anchors of a memory that loses some and gets others: one of a place.
pub(super) fn united(
    before: &[Anchor],
    removed: &[String],
    added: &[Anchor],
    cwd: &str,
    layout: &RepoLayout,
) -> Done<Vec<Anchor>> {
    let mut anchors = before.to_vec();
    for target in removed {
        let Some(at) = named_by(&anchors, target, cwd, layout) else {
            let names: Vec<String> = anchors.iter().map(Anchor::to_string).collect();
            let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return Err(refused(
                format!("about: it is not about {target}, but about {has}"),
                "name one of those as it is shown",
            ));
        };
        anchors.remove(at);
    }
    for anchor in added {
        let kept = Anchor { state: None, now: None, note: None, ..anchor.clone() };
        match anchors.iter_mut().find(|known| known.to_string() == kept.to_string()) {
            Some(known) => *known = kept,
            None => anchors.push(kept),
        }
    }
    if anchors.len() > MOST {
        return Err(refused(
            format!("about: {} places, over {MOST}", anchors.len()),
            "one memory for each is easier to keep true",
        ));
    }
    Ok(anchors)
}

/// Tells the state of each memory of an answer that is about something: of `memory`, or of `memories`.
pub(super) async fn with_states(shared: &Arc<Shared>, cwd: &str, mut answer: Value) -> Value {
    let Value::Object(fields) = &mut answer else { return answer };
    if fields.contains_key("fresh") {
        return answer; // told already
    }
    let parts = fields.iter_mut().filter(|(name, _)| matches!(name.as_str(), "memory" | "memories"));
    let memories = parts.flat_map(|(_, part)| match part {
        Value::Array(list) => list.iter_mut().collect(),
        one => vec![one],
    });
    let is_about = |memory: &&mut Value| memory["anchors"].as_array().is_some_and(|list| !list.is_empty());
    let memories: Vec<&mut Value> = memories.filter(is_about).collect();
    if memories.is_empty() {
        return answer;
    }
    let lists =
        memories.iter().map(|memory| serde_json::from_value(memory["anchors"].clone()).unwrap_or_default());
    let reason = match states(shared, cwd, Sync::Fs, lists.collect()).await {
        Ok(Judged { value, reason }) => {
            for (memory, anchors) in memories.into_iter().zip(value) {
                (memory["state"], memory["anchors"]) = (json!(State::of(&anchors)), json!(anchors));
            }
            reason
        }
        // What was written is written, whatever is known of the code.
        Err(error) => Some(error.message),
    };
    (answer["fresh"], answer["reason"]) = (json!(reason.is_none()), json!(reason));
    answer
}

/// Judges the anchors of several memories.
pub(in crate::daemon) async fn states(
    shared: &Arc<Shared>,
    cwd: &str,
    level: Sync,
    lists: Vec<Vec<Anchor>>,
) -> RpcResult<Judged<Vec<Vec<Anchor>>>> {
    on_snapshot(shared, cwd, level, deadline(shared, None), move |judge| {
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
    let all = anchored(shared, |_| Ok(MemoryFilter::default()), ListParams::default()).await?;
    let lists: Vec<_> = all.into_iter().map(|(_, anchors)| anchors).collect();
    let mut counts = StateCounts::default();
    if lists.is_empty() {
        return Ok(counts);
    }
    for anchors in states(shared, cwd, Sync::None, lists).await?.value {
        match State::of(&anchors) {
            Some(State::Fresh) => counts.fresh += 1,
            Some(State::Drifted) => counts.drifted += 1,
            Some(State::Orphaned) => counts.orphaned += 1,
            None => counts.unknown += 1,
        }
    }
    Ok(counts)
}

/// Returns the anchors of memories that have any, by id.
pub(super) async fn anchored(
    shared: &Arc<Shared>,
    filter: impl Fn(&Rows<'_>) -> Done<MemoryFilter> + Send + 'static,
    params: ListParams,
) -> RpcResult<Vec<Anchored>> {
    let job = move |store: &mut MemoryStore| {
        store.read(now_ms(), |rows| Ok(rows.anchored(&filter(rows)?, params.sort)?))
    };
    Ok(shared.memories.ask(job).await??)
}

/// Lists memories of one state.
pub(super) async fn list_by_state(shared: &Arc<Shared>, params: Value) -> RpcResult<Value> {
    let typed: ListParams = params_of(params)?;
    locate(shared, &typed.caller)?;
    let limit = at_most(&typed)?;
    let asked = typed.clone();
    let all = anchored(
        shared,
        move |rows| memory_filter(rows, &asked.selection, asked.archived, now_ms()),
        typed.clone(),
    )
    .await?;
    let (ids, lists): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let Judged { value, reason } = states(shared, &typed.caller.cwd, Sync::Fs, lists).await?;
    let judged = ids.into_iter().zip(value).filter(|(_, anchors)| State::of(anchors) == typed.state);
    let judged: Vec<_> = judged.collect();
    let total = judged.len() as u64;
    let offset = usize::try_from(typed.offset).unwrap_or(usize::MAX);
    let wanted: Vec<_> = judged.into_iter().skip(offset).take(limit as usize).collect();
    let ids: Vec<String> = wanted.iter().map(|(id, _)| id.clone()).collect();
    if ids.is_empty() {
        return Ok(json!(MemoriesResult {
            total,
            fresh: Some(reason.is_none()),
            reason,
            ..MemoriesResult::default()
        }));
    }
    let params = json!(IdsParams { caller: typed.caller.clone(), ids });
    let mut answer = read(shared, params, alone).await?;
    for (memory, (_, anchors)) in answer["memories"].as_array_mut().into_iter().flatten().zip(wanted) {
        (memory["state"], memory["anchors"]) = (json!(typed.state), json!(anchors));
    }
    (answer["total"], answer["fresh"], answer["reason"]) =
        (json!(total), json!(reason.is_none()), json!(reason));
    Ok(answer)
}

/// Returns memories without what hangs on them, as lists do.
fn alone(rows: &Rows<'_>, params: &IdsParams, now_ms: i64) -> Done<MemoriesResult> {
    let memories = named(rows, params)?.into_iter().map(|record| show::memory(record, now_ms)).collect();
    Ok(MemoriesResult { memories, ..MemoriesResult::default() })
}

/// Takes what a memory is about as it is now: somebody has looked, and what it says still holds.
pub(super) async fn confirm(shared: &Arc<Shared>, mut params: Value) -> RpcResult<Value> {
    let typed: ConfirmParams = params_of(params.clone())?;
    locate(shared, &typed.caller)?;
    let id = typed.id.clone();
    let job = move |store: &mut MemoryStore| store.read(now_ms(), |rows| find(rows, &id));
    let record: Record = shared.memories.ask(job).await??;
    let id = record.id.clone();
    if record.anchors.is_empty() {
        let hint = format!("`memo update {id} --about PATH#SYMBOL` says what it is about");
        return Err(bad_params(format!("id: {id} is about nothing in the code")).with_hint(hint));
    }
    let anew = move |judge: &mut AnchorChecker<'_>| -> RpcResult<Vec<Anchor>> {
        record.anchors.iter().map(|anchor| looked_at(judge, anchor, &record.id)).collect()
    };
    let found = on_snapshot(shared, &typed.caller.cwd, Sync::Fs, deadline(shared, None), anew).await?;
    (params["id"], params["anchors"]) = (json!(id), json!(found.sure()?));
    write(shared, params, put_confirmed).await
}

/// Returns an anchor as its place is now.
fn looked_at(judge: &mut AnchorChecker<'_>, anchor: &Anchor, id: &str) -> RpcResult<Anchor> {
    let mut judged = anchor.clone();
    let location = judge.location(&mut judged)?;
    let now = match location {
        Some(location) if judged.state != Some(State::Orphaned) => judge.anchor(&location)?,
        _ => None,
    };
    now.ok_or_else(|| {
        let note = judged.note.map_or(String::new(), |note| format!("; {note}"));
        let hint =
            format!("`memo update {id} --no-about {anchor} --about PATH#SYMBOL`, or `memo forget {id}`");
        bad_params(format!("about: {anchor} is gone{note}")).with_hint(hint)
    })
}

fn put_confirmed(rows: &Rows<'_>, params: &ConfirmParams, stamp: &Stamp) -> Done<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    let updated = stamp.now_ms.max(before.updated + 1);
    let after = Record { anchors: params.anchors.clone(), updated, ..before.clone() };
    let fields = show::differences(&before, &after);
    let changed = fields.keys().cloned().collect();
    rows.put(&after, &super::derive(&after), &MemoryEvent { fields, ..stamp.event("confirm") })?;
    Ok(UpdateResult { changed, redacted: 0, memory: show::memory(after, stamp.now_ms), notice: None })
}
