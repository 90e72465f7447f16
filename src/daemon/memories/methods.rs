//! What does each method about memories do?

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::rules::{Done, bad, check_text, find, not_found, refused, which};
use super::{Outcome, now_ms, show, store_error};
use crate::daemon::dispatch::{bad_params, no_method, params_of};
use crate::daemon::shared::Shared;
use crate::git;
use crate::memory::{fields, id, time};
use crate::paths::Place;
use crate::proto::memory::{
    AddParams, AddResult, Caller, HistoryResult, IdsParams, ListParams, MemoriesResult, RemoveParams,
    RemoveResult, Selection, StatsResult, TallyParams, TallyResult, UpdateParams, UpdateResult,
};
use crate::proto::{RpcError, code};
use crate::store::{Event, MemoryKeeper, Record, Rows};
use crate::types::rfc3339;

/// Memories of a page when nothing is said.
const LIMIT: u64 = 20;
/// Most memories of a page.
const MAX_LIMIT: u64 = 1_000;
/// Longest name of a request, bytes.
const MAX_REQUEST: usize = 128;

/// What the daemon puts beside what a caller says.
struct Stamp {
    now_ms: i64,
    author: String,
    source: &'static str,
}

impl Stamp {
    fn event(&self, action: &str) -> Event {
        let (author, source) = (self.author.clone(), self.source.to_owned());
        Event { at: self.now_ms, action: action.to_owned(), author, source, ..Event::default() }
    }
}

/// Runs one method whose name begins with `memory.`.
pub(in crate::daemon) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> Outcome<Value> {
    match method {
        "memory.add" => write(shared, params, |params: &AddParams| &params.caller, add).await,
        "memory.update" => write(shared, params, |params: &UpdateParams| &params.caller, update).await,
        "memory.restore" => write(shared, params, |params: &IdsParams| &params.caller, restore).await,
        "memory.forget" => remove(shared, params, forget).await,
        "memory.purge" => remove(shared, params, purge).await,
        "memory.get" => read(shared, params, |params: &IdsParams| &params.caller, get).await,
        "memory.list" => read(shared, params, |params: &ListParams| &params.caller, list).await,
        "memory.history" => read(shared, params, |params: &IdsParams| &params.caller, history).await,
        "memory.tags" => read(shared, params, |params: &TallyParams| &params.caller, tags).await,
        "memory.containers" => read(shared, params, |params: &TallyParams| &params.caller, containers).await,
        "memory.stats" => stats(shared, params).await,
        _ => Err(no_method(method)),
    }
}

/// Runs a method that changes nothing.
async fn read<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    params: Value,
    caller: fn(&P) -> &Caller,
    run: fn(&Rows<'_>, &P, i64) -> Done<T>,
) -> Outcome<Value> {
    let params: P = params_of(params)?;
    locate(shared, caller(&params))?;
    let job = move |keeper: &mut MemoryKeeper| {
        let now_ms = now_ms();
        let read = keeper.read(now_ms, |rows| Ok(json!(run(rows, &params, now_ms)?)));
        with_notice(read.map_err(store_error), keeper, now_ms)
    };
    shared.memories.ask(job).await?
}

/// Runs a method that writes; a request that comes again gets the answer that it got.
async fn write<P: DeserializeOwned + Send + 'static, T: Serialize + 'static>(
    shared: &Arc<Shared>,
    params: Value,
    caller: fn(&P) -> &Caller,
    run: fn(&Rows<'_>, &P, &Stamp) -> Done<T>,
) -> Outcome<Value> {
    let params: P = params_of(params)?;
    let place = locate(shared, caller(&params))?;
    let job = move |keeper: &mut MemoryKeeper| {
        let caller = caller(&params);
        let request = caller.request.as_deref();
        let stamp = stamp(caller, &place);
        let written = keeper.write(stamp.now_ms, |rows| {
            if let Some(name) = request
                && let Some(answer) = rows.answer(name)?
            {
                return Ok(answer);
            }
            let answer = json!(run(rows, &params, &stamp)?);
            if let Some(name) = request {
                rows.keep_answer(name, &answer)?;
            }
            Ok(answer)
        });
        with_notice(written.map_err(store_error), keeper, stamp.now_ms)
    };
    shared.memories.ask(job).await?
}

/// A dry run is the same selection, read instead of written.
async fn remove(
    shared: &Arc<Shared>,
    params: Value,
    run: fn(&Rows<'_>, &RemoveParams, &Stamp) -> Done<RemoveResult>,
) -> Outcome<Value> {
    let typed: RemoveParams = params_of(params.clone())?;
    if !typed.dry_run {
        return write(shared, params, |params: &RemoveParams| &params.caller, run).await;
    }
    let place = locate(shared, &typed.caller)?;
    let job = move |keeper: &mut MemoryKeeper| {
        let stamp = stamp(&typed.caller, &place);
        let read = keeper.read(stamp.now_ms, |rows| Ok(json!(run(rows, &typed, &stamp)?)));
        with_notice(read.map_err(store_error), keeper, stamp.now_ms)
    };
    shared.memories.ask(job).await?
}

/// Checks that the caller means this repository.
fn locate(shared: &Shared, caller: &Caller) -> Outcome<Place> {
    if caller.request.as_ref().is_some_and(|name| name.len() > MAX_REQUEST) {
        return Err(bad_params(format!("request: over {MAX_REQUEST} bytes")));
    }
    let cwd = PathBuf::from(&caller.cwd);
    if !cwd.is_absolute() {
        return Err(bad_params(
            "cwd: an absolute path is needed, to know which repository is meant".to_owned(),
        ));
    }
    let wrong = |message| RpcError { code: code::WRONG_REPOSITORY, message, data: None };
    let place = Place::locate(&cwd, &shared.env).map_err(|error| wrong(error.to_string()))?;
    if place.state_dir != shared.place.state_dir {
        return Err(wrong(format!("{}: belongs to another repository than this daemon's", cwd.display())));
    }
    Ok(place)
}

/// Settings that cannot be read leave the author unknown: a memory is worth more than its author's name.
fn stamp(caller: &Caller, place: &Place) -> Stamp {
    let author = git::author(place, &git::UserDirs::read()).ok().flatten();
    let source = if caller.client == "cli" { "cli" } else { "api" };
    Stamp { now_ms: now_ms(), author: author.unwrap_or_else(|| "unknown".to_owned()), source }
}

fn with_notice(answer: Outcome<Value>, keeper: &MemoryKeeper, now_ms: i64) -> Outcome<Value> {
    let notice = keeper.notice(now_ms);
    match answer {
        Ok(mut answer) => {
            if let Some(notice) = notice {
                answer["notice"] = json!(notice);
            }
            Ok(answer)
        }
        Err(error) => Err(error),
    }
}

fn add(rows: &Rows<'_>, params: &AddParams, stamp: &Stamp) -> Done<AddResult> {
    let content = fields::content(&params.content, params.allow_secret).map_err(bad)?;
    let title = params.title.as_deref().map(|title| fields::title(title, params.allow_secret));
    let title = title.transpose().map_err(bad)?.flatten();
    let tier = params.tier.unwrap_or_default();
    let expires_at = match &params.ttl {
        Some(ttl) => Some(time::expiry(ttl, stamp.now_ms).map_err(bad)?),
        None => time::lasts_ms(tier).map(|ms| stamp.now_ms + ms),
    };
    let redacted = content.redacted + title.as_ref().map_or(0, |title| title.redacted);
    let record = Record {
        id: id::new_id(stamp.now_ms, rows.random()?),
        content: content.text,
        title: title.map(|title| title.text),
        container: fields::container(params.container.as_deref().unwrap_or(fields::DEFAULT_CONTAINER))
            .map_err(bad)?,
        tags: fields::tags(&params.tags).map_err(bad)?,
        tier,
        expires_at,
        priority: params.priority.map_or(Ok(fields::DEFAULT_PRIORITY), fields::priority).map_err(bad)?,
        confidence: params.confidence.map_or(Ok(1.0), fields::confidence).map_err(bad)?,
        metadata: fields::metadata(params.metadata.clone(), params.allow_secret).map_err(bad)?,
        source: stamp.source.to_owned(),
        author: stamp.author.clone(),
        created: stamp.now_ms,
        updated: stamp.now_ms,
        ..Record::default()
    };
    let derived = super::derive(&record);
    let known = rows.same_text(&record.container, &derived.hash)?;
    let created = known.is_none();
    if created {
        rows.put(&record, &derived, &stamp.event("add"))?;
    }
    let memory = show::memory(known.unwrap_or(record), stamp.now_ms);
    Ok(AddResult { created, redacted, memory, notice: None })
}

fn update(rows: &Rows<'_>, params: &UpdateParams, stamp: &Stamp) -> Done<UpdateResult> {
    let before = find(rows, &params.id)?;
    if !before.lives(stamp.now_ms) {
        return Err(refused(format!("id: {} is in the archive", before.id), "`memo restore` takes it out"));
    }
    let (mut after, redacted) = changed(&before, params, stamp.now_ms)?;
    let fields = show::differences(&before, &after);
    if fields.contains_key("content") || fields.contains_key("container") {
        check_text(rows, &after)?;
    }
    let names = fields.keys().cloned().collect();
    if !fields.is_empty() {
        after.updated = stamp.now_ms.max(before.updated + 1);
        rows.put(&after, &super::derive(&after), &Event { fields, ..stamp.event("update") })?;
    }
    let memory = show::memory(after, stamp.now_ms);
    Ok(UpdateResult { changed: names, redacted, memory, notice: None })
}

/// Returns the memory as it is to be, and how many private parts were cut out of what is new.
fn changed(before: &Record, params: &UpdateParams, now_ms: i64) -> Done<(Record, usize)> {
    let mut after = before.clone();
    let mut redacted = 0;
    let added = params.append.as_deref().map(|text| fields::content(text, params.allow_secret));
    let content = match (&params.content, added.transpose().map_err(bad)?) {
        (Some(_), Some(_)) => {
            let both = "content, append: both at once".to_owned();
            return Err(refused(both, "append to what is there, or put another content in its place"));
        }
        (Some(content), None) => Some((fields::content(content, params.allow_secret).map_err(bad)?, None)),
        (None, Some(added)) => Some((added, Some(&before.content))),
        (None, None) => None,
    };
    if let Some((kept, behind)) = content {
        redacted += kept.redacted;
        after.content = behind.map_or(kept.text.clone(), |behind| format!("{behind}\n{}", kept.text));
        // The sum of two good texts may be too long. What was kept with a credential in it stays so.
        fields::content(&after.content, true).map_err(bad)?;
    }
    if let Some(title) = &params.title {
        let title = fields::title(title, params.allow_secret).map_err(bad)?;
        redacted += title.as_ref().map_or(0, |title| title.redacted);
        after.title = title.map(|title| title.text);
    }
    if let Some(container) = &params.container {
        after.container = fields::container(container).map_err(bad)?;
    }
    if let Some(tier) = params.tier {
        (after.tier, after.expires_at) = (tier, time::lasts_ms(tier).map(|ms| now_ms + ms));
    }
    match params.ttl.as_deref() {
        Some("never") => after.expires_at = None,
        Some(ttl) => after.expires_at = Some(time::expiry(ttl, now_ms).map_err(bad)?),
        None => {}
    }
    if let Some(priority) = params.priority {
        after.priority = fields::priority(priority).map_err(bad)?;
    }
    if let Some(confidence) = params.confidence {
        after.confidence = fields::confidence(confidence).map_err(bad)?;
    }
    after.metadata = metadata(&before.metadata, params)?;
    let gone = fields::tags(&params.remove_tags).map_err(bad)?;
    after.tags.extend(fields::tags(&params.add_tags).map_err(bad)?);
    after.tags.retain(|tag| !gone.contains(tag));
    after.tags = fields::tags(&after.tags).map_err(bad)?;
    Ok((after, redacted))
}

fn metadata(
    before: &serde_json::Map<String, Value>,
    params: &UpdateParams,
) -> Done<serde_json::Map<String, Value>> {
    if params.metadata.is_empty() && !params.replace_metadata {
        return Ok(before.clone());
    }
    let mut after = if params.replace_metadata { serde_json::Map::new() } else { before.clone() };
    let over = fields::metadata(params.metadata.clone(), params.allow_secret).map_err(bad)?;
    fields::merge_metadata(&mut after, over);
    fields::metadata(after, true).map_err(bad) // the sum may be too long
}

fn restore(rows: &Rows<'_>, params: &IdsParams, stamp: &Stamp) -> Done<MemoriesResult> {
    let records = named(rows, params)?;
    for record in &records {
        if record.lives(stamp.now_ms) {
            let message = format!("id: {} is not in the archive", record.id);
            return Err(not_found(message, "`memo list --archived` shows what is"));
        }
        check_text(rows, record)?;
        // One by one: two of them may have the same text.
        rows.restore(std::slice::from_ref(record), &stamp.event("restore"))?;
    }
    get(rows, params, stamp.now_ms)
}

fn forget(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    if params.selection == Selection::default() {
        return Err(refused("nothing says which memories".to_owned(), "name ids, or --container, --tag, …"));
    }
    let records = selected(rows, params, false, stamp.now_ms)?;
    let result = removed(params, &records)?;
    if !params.dry_run {
        rows.archive(&records, "forgotten", &stamp.event("forget"))?;
    }
    Ok(result)
}

fn purge(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    let records = selected(rows, params, true, stamp.now_ms)?;
    let result = removed(params, &records)?;
    if !params.dry_run {
        rows.delete(&records)?;
    }
    Ok(result)
}

fn selected(rows: &Rows<'_>, params: &RemoveParams, archived: bool, now_ms: i64) -> Done<Vec<Record>> {
    let which = which(rows, &params.selection, archived, now_ms)?;
    Ok(rows.list(&which, Default::default(), 0, None)?.0)
}

/// Returns what is shown of what goes; refuses when it is not what was shown before.
fn removed(params: &RemoveParams, records: &[Record]) -> Done<RemoveResult> {
    let mut hasher = blake3::Hasher::new();
    for record in records {
        hasher.update(record.id.as_bytes()).update(&record.updated.to_le_bytes());
    }
    let digest = hasher.finalize().to_hex().to_string();
    if params.expect.as_ref().is_some_and(|expected| *expected != digest) {
        let message =
            "expect: these memories have changed since they were shown; nothing was removed".to_owned();
        return Err(refused(message, "look at them again"));
    }
    let memories = records.iter().map(show::brief).collect();
    Ok(RemoveResult { dry_run: params.dry_run, memories, digest, notice: None })
}

fn named(rows: &Rows<'_>, params: &IdsParams) -> Done<Vec<Record>> {
    if params.ids.is_empty() {
        return Err(refused("ids: none".to_owned(), "`memo list` shows the ids"));
    }
    params.ids.iter().map(|typed| find(rows, typed)).collect()
}

fn get(rows: &Rows<'_>, params: &IdsParams, now_ms: i64) -> Done<MemoriesResult> {
    let records = named(rows, params)?;
    let memories: Vec<_> = records.into_iter().map(|record| show::memory(record, now_ms)).collect();
    Ok(MemoriesResult { total: memories.len() as u64, memories, notice: None })
}

fn list(rows: &Rows<'_>, params: &ListParams, now_ms: i64) -> Done<MemoriesResult> {
    let limit = params.limit.unwrap_or(LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused(format!("limit: {limit} is not between 1 and {MAX_LIMIT}"), "--all shows all"));
    }
    let which = which(rows, &params.selection, params.archived, now_ms)?;
    let (records, total) = rows.list(&which, params.sort, params.offset, Some(limit))?;
    let memories = records.into_iter().map(|record| show::memory(record, now_ms)).collect();
    Ok(MemoriesResult { memories, total, notice: None })
}

fn history(rows: &Rows<'_>, params: &IdsParams, _: i64) -> Done<HistoryResult> {
    let [typed] = params.ids.as_slice() else {
        return Err(refused("ids: one is needed".to_owned(), "`memo list` shows the ids"));
    };
    let record = find(rows, typed)?;
    let changes = rows.history(&record.id)?.into_iter().map(show::change).collect();
    Ok(HistoryResult { id: record.id, changes, notice: None })
}

fn tags(rows: &Rows<'_>, _: &TallyParams, _: i64) -> Done<TallyResult> {
    Ok(TallyResult { names: rows.tags()?, notice: None })
}

fn containers(rows: &Rows<'_>, _: &TallyParams, _: i64) -> Done<TallyResult> {
    Ok(TallyResult { names: rows.containers()?, notice: None })
}

async fn stats(shared: &Arc<Shared>, params: Value) -> Outcome<Value> {
    let params: TallyParams = params_of(params)?;
    locate(shared, &params.caller)?;
    let job = |keeper: &mut MemoryKeeper| {
        let now_ms = now_ms();
        let read = keeper.read(now_ms, |rows| Ok((rows.numbers()?, rows.tiers()?)));
        let result = read.map(|(numbers, tiers)| StatsResult {
            living: numbers.living,
            archived: numbers.archived,
            tiers,
            content_bytes: numbers.content_bytes,
            oldest: numbers.oldest.map(rfc3339),
            newest: numbers.newest.map(rfc3339),
            path: keeper.path().display().to_string(),
            backups: keeper.backups(),
            notice: None,
        });
        with_notice(result.map(|result| json!(result)).map_err(store_error), keeper, now_ms)
    };
    shared.memories.ask(job).await?
}
