//! Answers the methods that only read memories.
//!
//! Nothing here changes anything.

use memod_base::types::{MEMORY_FILES_DIR, rfc3339};
use memod_engine::errors::RpcResult;
use memod_memory::id;
use memod_memory_db::{MemoryFilter, MemoryStore, Record, Rows, Side, UnreadableFile};
use memod_proto::Caveats;
use memod_proto::memory::{
    HistoryResult, IdsParams, ListParams, MemoriesResult, Memory, StatsResult, TallyParams, TallyResult,
};
use serde_json::{Value, json};

use super::rules::{Done, find, find_copies_too, memory_filter, refused};
use super::transaction::{Call, read, with_store};
use super::{links, show};
use crate::daemon::shared::Shared;

/// Why a memory is in the archive: no worktree has its file any more.
const BY_FILE: &str = "file";
/// Why it is there: its file says no memory any more.
const UNREADABLE: &str = "unreadable";
/// Default size of a page.
const LIMIT: u64 = 20;
/// Maximum size of a page.
const MAX_LIMIT: u64 = 1_000;

/// Returns the memories that are named, each as `find` finds it.
pub(super) fn named(
    rows: &Rows<'_>,
    params: &IdsParams,
    find: fn(&Rows<'_>, &str) -> Done<Record>,
) -> Done<Vec<Record>> {
    if params.ids.is_empty() {
        return Err(refused("ids: none".to_owned(), "`memo list` shows the ids"));
    }
    params.ids.iter().map(|typed| find(rows, typed)).collect()
}

pub(super) fn get(rows: &Rows<'_>, params: &IdsParams) -> Done<MemoriesResult> {
    let mut memories = Vec::new();
    for id in named(rows, params, find_copies_too)?.into_iter().map(|record| record.id) {
        let links = Some(links::of(rows, &id)?);
        // Both sides of a conflict.
        for record in rows.beginning(&id, Side::ALL.len())? {
            memories.push(Memory { links: links.clone(), ..show::memory(record, rows.now_ms()) });
        }
    }
    let caveats = mark_unreadable(rows, &mut memories)?;
    Ok(MemoriesResult { total: memories.len() as u64, memories, caveats })
}

/// Marks memories that are in the archive because their files say none any more; the caveats name these.
fn mark_unreadable(rows: &Rows<'_>, memories: &mut [Memory]) -> Done<Caveats> {
    let mut caveats = Caveats::default();
    for memory in memories.iter_mut().filter(|memory| memory.archived_why.as_deref() == Some(BY_FILE)) {
        let files = rows.unreadable_files(Some(&memory.id))?;
        if !files.is_empty() {
            memory.archived_why = Some(UNREADABLE.to_owned());
            caveats.add(of_unreadable(&files, "shown as it was before"));
        }
    }
    Ok(caveats)
}

/// Returns the caveats of an answer in which what files say that cannot be read is missing or old, as is told in words.
pub(super) fn of_unreadable(files: &[UnreadableFile], what: &str) -> Caveats {
    let Some(first) = files.first() else { return Caveats::default() };
    let path = format!("{MEMORY_FILES_DIR}/{}", first.name);
    let path = first.root.as_ref().map_or_else(|| path.clone(), |root| format!("{root}/{path}"));
    let more = if files.len() > 1 { format!(", and {} more", files.len() - 1) } else { String::new() };
    let reason = format!("memories: {path}: is no memory: {}{more}; {what}", first.why);
    Caveats { fresh: false, reason: Some(reason), notice: None }
}

/// Validates the size of a page.
pub(super) fn at_most(params: &ListParams) -> Done<u64> {
    let limit = params.limit.unwrap_or(LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused(
            format!("limit: {limit} is not between 1 and {MAX_LIMIT}"),
            "`memo list --all` shows all; `offset` begins further on",
        ));
    }
    Ok(limit)
}

pub(super) fn list(rows: &Rows<'_>, params: &ListParams) -> Done<MemoriesResult> {
    let now_ms = rows.now_ms();
    let limit = at_most(params)?;
    let filter = memory_filter(rows, &params.selection, params.archived, now_ms)?;
    let filter = MemoryFilter { followed: true, ..filter };
    let (records, total) = rows.list(&filter, params.sort, params.offset, Some(limit))?;
    let mut memories: Vec<Memory> = records.into_iter().map(|record| show::memory(record, now_ms)).collect();
    let caveats = mark_unreadable(rows, &mut memories)?;
    Ok(MemoriesResult { memories, total, caveats })
}

pub(super) fn history(rows: &Rows<'_>, params: &IdsParams) -> Done<HistoryResult> {
    let [typed] = params.ids.as_slice() else {
        return Err(refused("ids: one is needed".to_owned(), "`memo list` shows the ids"));
    };
    let id = match id::parse_id(typed) {
        Ok(id) if rows.is_elsewhere(&id)? => id,
        _ => find(rows, typed)?.id,
    };
    let changes = rows.history(&id)?.into_iter().map(show::change).collect();
    Ok(HistoryResult { id, changes, caveats: Caveats::default() })
}

pub(super) fn tags(rows: &Rows<'_>, _: &TallyParams) -> Done<TallyResult> {
    Ok(TallyResult { names: rows.tags()?, caveats: Caveats::default() })
}

/// Returns the names of the first tags that [`tags`] lists.
pub(in crate::daemon) async fn tag_names(shared: &Shared, limit: usize) -> RpcResult<Vec<String>> {
    read(shared, move |rows| Ok(rows.tags()?.into_iter().take(limit).map(|tally| tally.name).collect())).await
}

pub(super) fn containers(rows: &Rows<'_>, _: &TallyParams) -> Done<TallyResult> {
    Ok(TallyResult { names: rows.containers()?, caveats: Caveats::default() })
}

pub(super) async fn stats(call: &Call<'_>) -> RpcResult<Value> {
    let stats = |store: &mut MemoryStore, now_ms| -> Done<Value> {
        let read = |rows: &Rows<'_>| Ok((rows.numbers()?, rows.tiers()?, rows.containers()?));
        let (numbers, tiers, containers) = store.read(now_ms, read)?;
        Ok(json!(StatsResult {
            living: numbers.living,
            archived: numbers.archived,
            tiers,
            containers,
            expiring: numbers.expiring,
            next_end: numbers.next_end.map(rfc3339),
            links: numbers.links,
            links_archived: numbers.links_archived,
            content_bytes: numbers.content_bytes,
            oldest: numbers.oldest.map(rfc3339),
            newest: numbers.newest.map(rfc3339),
            path: store.path().display().to_string(),
            elsewhere: store.elsewhere().iter().map(|path| path.display().to_string()).collect(),
            bytes: store.bytes(),
            backups: store.backups(),
            caveats: Caveats::default(),
        }))
    };
    with_store(call.shared, stats).await
}
