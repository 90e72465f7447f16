//! Answers the methods that only read memories.

use memod_base::types::{MEMORY_FILES_DIR, format_rfc3339};
use memod_engine::errors::RpcResult;
use memod_memory::id;
use memod_memory_db::{FileSide, MemoryFilter, MemoryRecord, MemoryRows, MemoryStore, UnreadableFile};
use memod_proto::Caveats;
use memod_proto::memory::{
    HistoryResult, IdsParams, ListParams, MemoriesResult, Memory, StatsResult, TallyParams, TallyResult,
};
use serde_json::{Value, json};

use crate::daemon::memories::calls::method_call::{MethodCall, read, run_on_store};
use crate::daemon::memories::rules::memory_links;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, find_memory, find_memory_or_copy, parse_selection, refused_error,
};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::request_context::RequestContext;

/// Reason of archiving: no worktree has the file of the memory any more.
const ARCHIVED_BY_FILE: &str = "file";
/// Reason of archiving: the file no longer contains a memory.
const ARCHIVED_AS_UNREADABLE: &str = "unreadable";
/// Default size of a page.
const DEFAULT_LIMIT: u64 = 20;
/// Maximum size of a page.
const MAX_LIMIT: u64 = 1_000;

/// Returns the memories of the given ids, each resolved with `find_one`.
pub(in crate::daemon::memories) fn find_memories_by_ids(
    rows: &MemoryRows<'_>,
    params: &IdsParams,
    find_one: fn(&MemoryRows<'_>, &str) -> JobResult<MemoryRecord>,
) -> JobResult<Vec<MemoryRecord>> {
    if params.ids.is_empty() {
        return Err(refused_error("ids: no id is given".to_owned(), "`memo list` shows the ids"));
    }
    params.ids.iter().map(|typed| find_one(rows, typed)).collect()
}

/// Answers `memory.get`: returns memories with their links. A memory in conflict is returned with both sides.
pub(in crate::daemon::memories) fn get_memories(
    rows: &MemoryRows<'_>,
    params: &IdsParams,
) -> JobResult<MemoriesResult> {
    let mut memories = Vec::new();
    for id in find_memories_by_ids(rows, params, find_memory_or_copy)?.into_iter().map(|record| record.id) {
        let links = Some(memory_links::list_links(rows, &id)?);
        // A memory in conflict has a record for each side.
        for record in rows.records().list_with_prefix(&id, FileSide::ALL.len())? {
            memories
                .push(Memory { links: links.clone(), ..protocol_values::to_memory(record, rows.now_ms()) });
        }
    }
    let caveats = mark_unreadable(rows, &mut memories)?;
    Ok(MemoriesResult { total: memories.len() as u64, memories, caveats })
}

/// Marks memories that are archived because their files are unreadable, and returns caveats that name the files.
fn mark_unreadable(rows: &MemoryRows<'_>, memories: &mut [Memory]) -> JobResult<Caveats> {
    let mut caveats = Caveats::default();
    for memory in
        memories.iter_mut().filter(|memory| memory.archived_why.as_deref() == Some(ARCHIVED_BY_FILE))
    {
        let files = rows.files().list_unreadable_files(Some(&memory.id))?;
        if !files.is_empty() {
            memory.archived_why = Some(ARCHIVED_AS_UNREADABLE.to_owned());
            caveats.add_caveats(unreadable_caveats(&files, "shown as it was before"));
        }
    }
    Ok(caveats)
}

/// Returns the caveats of an answer without the present text of unreadable files; none without such files. `consequence` says
/// what the answer has instead.
pub(in crate::daemon::memories) fn unreadable_caveats(
    files: &[UnreadableFile],
    consequence: &str,
) -> Caveats {
    let Some(first) = files.first() else { return Caveats::default() };
    let path = format!("{MEMORY_FILES_DIR}/{}", first.name);
    let path = first.root.as_ref().map_or_else(|| path.clone(), |root| format!("{root}/{path}"));
    let more = if files.len() > 1 { format!("; {} more files", files.len() - 1) } else { String::new() };
    let reason = format!("memories: {path}: is no memory: {}{more}; {consequence}", first.why);
    Caveats { fresh: false, reason: Some(reason), notice: None }
}

/// Returns the requested or default size of a page. Fails if the size is out of range.
pub(in crate::daemon::memories) fn parse_page_limit(params: &ListParams) -> JobResult<u64> {
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(refused_error(
            format!("limit: {limit} is not between 1 and {MAX_LIMIT}"),
            "list all with `memo list --all`, or begin later with `offset`",
        ));
    }
    Ok(limit)
}

/// Returns one page of the selected memories.
pub(in crate::daemon::memories) fn list_page(
    rows: &MemoryRows<'_>,
    params: &ListParams,
) -> JobResult<MemoriesResult> {
    let now_ms = rows.now_ms();
    let limit = parse_page_limit(params)?;
    let filter = parse_selection(rows, &params.selection, params.archived, now_ms)?;
    let filter = MemoryFilter { followed: true, ..filter };
    let (records, total) = rows.records().list_page(&filter, params.sort, params.offset, Some(limit))?;
    let mut memories: Vec<Memory> =
        records.into_iter().map(|record| protocol_values::to_memory(record, now_ms)).collect();
    let caveats = mark_unreadable(rows, &mut memories)?;
    Ok(MemoriesResult { memories, total, caveats })
}

/// Answers `memory.history`: returns the changes of one memory.
pub(in crate::daemon::memories) fn read_history(
    rows: &MemoryRows<'_>,
    params: &IdsParams,
) -> JobResult<HistoryResult> {
    let [typed] = params.ids.as_slice() else {
        return Err(refused_error("ids: exactly one id is needed".to_owned(), "`memo list` shows the ids"));
    };
    let id = match id::parse_id(typed) {
        Ok(id) if rows.sharing().is_only_elsewhere(&id)? => id,
        _ => find_memory(rows, typed)?.id,
    };
    let changes = rows.history().list_history(&id)?.into_iter().map(protocol_values::to_change).collect();
    Ok(HistoryResult { id, changes, caveats: Caveats::default() })
}

/// Answers `memory.tags`: returns the tags, each with the number of its memories.
pub(in crate::daemon::memories) fn list_tags(
    rows: &MemoryRows<'_>,
    _: &TallyParams,
) -> JobResult<TallyResult> {
    Ok(TallyResult { names: rows.tallies().tally_tags()?, caveats: Caveats::default() })
}

/// Returns the names of the first `limit` tags that [`list_tags`] lists.
pub(in crate::daemon) async fn read_tag_names(
    request: &RequestContext,
    limit: usize,
) -> RpcResult<Vec<String>> {
    read(request, move |rows| {
        Ok(rows.tallies().tally_tags()?.into_iter().take(limit).map(|tally| tally.name).collect())
    })
    .await
}

/// Answers `memory.containers`: returns the containers, each with the number of its memories.
pub(in crate::daemon::memories) fn list_containers(
    rows: &MemoryRows<'_>,
    _: &TallyParams,
) -> JobResult<TallyResult> {
    Ok(TallyResult { names: rows.tallies().tally_containers()?, caveats: Caveats::default() })
}

/// Answers `memory.stats`: returns numbers about the memories, the database and its backups.
pub(in crate::daemon::memories) async fn read_stats(call: &MethodCall<'_>) -> RpcResult<Value> {
    run_on_store(call.request, |store: &mut MemoryStore, now_ms| -> JobResult<Value> {
        let (numbers, tiers, containers) = store.read(now_ms, |rows: &MemoryRows<'_>| {
            Ok((
                rows.tallies().count_memories()?,
                rows.tallies().tally_tiers()?,
                rows.tallies().tally_containers()?,
            ))
        })?;
        Ok(json!(StatsResult {
            living: numbers.living,
            archived: numbers.archived,
            tiers,
            containers,
            expiring: numbers.expiring,
            next_end: numbers.next_end.map(format_rfc3339),
            links: numbers.links,
            links_archived: numbers.links_archived,
            content_bytes: numbers.content_bytes,
            oldest: numbers.oldest.map(format_rfc3339),
            newest: numbers.newest.map(format_rfc3339),
            path: store.database_path().display().to_string(),
            elsewhere: store
                .list_databases_elsewhere()
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            bytes: store.size_bytes(),
            backups: store.list_backups(),
            caveats: Caveats::default(),
        }))
    })
    .await
}
