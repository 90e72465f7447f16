//! Archives, restores and deletes memories.

use std::collections::HashSet;
use std::path::Path;

use memod_base::types::memory_file_path;
use memod_engine::errors::RpcResult;
use memod_memory::id;
use memod_memory_db::{FileSide, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{IdsParams, MemoriesResult, RemoveParams, RemoveResult, Selection};
use serde_json::Value;

use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::finding::queries::{find_memories_by_ids, get_memories};
use crate::daemon::memories::memory_files::plan_files::register_file;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, check_expected, check_unique_text, digest_records, find_memory_archived_first, join_notices,
    move_archived_to_new_id, not_found_error, parse_selection, refused_error,
};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::removal_notices::TEAM_ARCHIVED_WORDS;
use crate::daemon::memories::rules::removal_notices::removal_notice;

/// Answers `memory.restore`: takes memories out of the archive, and brings files of other worktrees into this one.
pub(in crate::daemon::memories) fn restore_memories(
    rows: &MemoryRows<'_>,
    params: &IdsParams,
    stamp: &ChangeStamp,
) -> JobResult<MemoriesResult> {
    let (mut brought, mut written) = (Vec::new(), Vec::new());
    for id in params.ids.iter().filter_map(|typed| id::parse_id(typed).ok()) {
        // A memory that only another worktree has becomes a file of this worktree too.
        if rows.sharing().is_only_elsewhere(&id)? {
            register_file(rows, &id, stamp)?;
            rows.history().record_change(&id, &stamp.new_event("restore"))?;
            written.push(memory_file_path(&id));
            brought.push(id);
        }
    }
    for record in find_memories_by_ids(rows, params, find_memory_archived_first)?
        .iter()
        .filter(|record| !brought.contains(&record.id))
    {
        if record.is_living(stamp.now_ms) {
            let message = format!("id: {} is not in the archive", record.id);
            return Err(not_found_error(message, "`memo list --archived` lists the archive"));
        }
        check_unique_text(rows, record)?;
        // One at a time, because two of them may have the same text.
        rows.archive().restore_memories(std::slice::from_ref(record), &stamp.new_event("restore"))?;
        if record.shared {
            register_file(rows, &record.id, stamp)?;
            written.push(memory_file_path(&record.id));
        }
    }
    Ok(MemoriesResult {
        caveats: Caveats::from_notice(written_notice(&written)),
        ..get_memories(rows, params)?
    })
}

/// Returns a notice on the files that a restore writes; `None` without files.
fn written_notice(files: &[String]) -> Option<String> {
    let [first, others @ ..] = files else { return None };
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    Some(format!(
        "shared again: wrote {first}{more} in this worktree; commit the change, or make a memory private with `memo share remove`"
    ))
}

/// Answers `memory.forget`: archives the selected memories.
pub(in crate::daemon::memories) fn forget_memories(
    rows: &MemoryRows<'_>,
    params: &RemoveParams,
    stamp: &ChangeStamp,
) -> JobResult<RemoveResult> {
    if params.selection == Selection::default() {
        return Err(refused_error(
            "no memories are selected".to_owned(),
            "name ids, or conditions such as --container and --tag",
        ));
    }
    let records = find_selected(rows, params, false, stamp.now_ms)?;
    let result = build_removal(params, &records)?;
    let mut notices = Vec::from_iter(removal_notice(&records, TEAM_ARCHIVED_WORDS, params.dry_run));
    // A dry run does all of this too, and is rolled back.
    for record in records.iter().filter(|record| record.shared) {
        notices.extend(move_archived_to_new_id(
            rows,
            &record.id,
            &stamp.new_event("forget"),
            params.dry_run,
        )?);
    }
    rows.archive_memories(&records, "forgotten", &stamp.new_event("forget"))?;
    let mut n_elsewhere = 0;
    for record in &records {
        n_elsewhere += usize::from(rows.sharing().is_only_elsewhere(&record.id)?);
    }
    notices.extend((n_elsewhere > 0).then(|| {
        let not_there = if params.dry_run { "would not be in the archive" } else { "not in the archive" };
        format!(
            "{not_there}, because other worktrees have their files: {n_elsewhere}; `memo restore ID` brings them back here too"
        )
    }));
    Ok(RemoveResult { caveats: Caveats::from_notice(join_notices(&notices)), ..result })
}

/// Answers `memory.purge`: deletes the selected archived memories for good.
pub(in crate::daemon::memories) fn purge_memories(
    rows: &MemoryRows<'_>,
    params: &RemoveParams,
    stamp: &ChangeStamp,
) -> JobResult<RemoveResult> {
    if !params.dry_run && params.selection.ids.is_empty() {
        require_digest(params)?; // without ids, a mistyped condition could select the whole archive
    }
    let mut records = find_selected(rows, params, true, stamp.now_ms)?;
    let n_meant = records.len();
    if params.selection.ids.is_empty() {
        // The clock may be wrong, so only archived memories are deleted: an expired memory is archived once its time has certainly
        // passed.
        records.retain(|record| record.archived_at.is_some());
    }
    let mut result = build_removal(params, &records)?;
    if records.len() < n_meant {
        result.caveats.notice = Some(format!(
            "{} more have expired by the clock, but memod has not seen that much time pass; name their ids to delete them",
            n_meant - records.len()
        ));
    }
    if !params.dry_run {
        rows.deletions().delete_memories(&records, &stamp.new_event("purge"))?;
    }
    Ok(result)
}

/// Answers `memory.reset`: deletes all memories, living and archived, after a backup of them.
pub(in crate::daemon::memories) async fn reset_memories(call: &MethodCall<'_>) -> RpcResult<Value> {
    let params: RemoveParams = call.parse_params()?;
    if params.selection != Selection::default() {
        let message = "reset removes all memories, and takes no conditions".to_owned();
        return Err(refused_error(message, "`memo forget` and `memo forget purge` take conditions").into());
    }
    if params.dry_run {
        return call.write_or_dry_run(|rows, params, stamp| delete_all(rows, params, stamp, None)).await;
    }
    require_digest(&params)?;
    call.write_after_backup(
        params,
        |rows: &MemoryRows<'_>, params: &RemoveParams, stamp: &ChangeStamp| {
            let records = find_all(rows, stamp.now_ms)?;
            build_removal(params, &records).map(|_| !records.is_empty())
        },
        delete_all,
    )
    .await
}

/// Fails without the digest of the memories that were shown before, because a deletion is final.
fn require_digest(params: &RemoveParams) -> JobResult<()> {
    match params.expect {
        Some(_) => Ok(()),
        None => {
            let message = "expect: missing; only memories that were shown are deleted".to_owned();
            Err(refused_error(message, "send dry_run first, and the digest of its result as expect"))
        }
    }
}

/// Deletes all memories with their files. Memories of the team stay with the team.
fn delete_all(
    rows: &MemoryRows<'_>,
    params: &RemoveParams,
    stamp: &ChangeStamp,
    backup: Option<&Path>,
) -> JobResult<RemoveResult> {
    let records = find_all(rows, stamp.now_ms)?;
    let team = ["kept by the team", "would be kept by the team"];
    let caveats = Caveats::from_notice(removal_notice(&records, team, params.dry_run));
    let result = RemoveResult { caveats, ..build_removal(params, &records)? };
    if !params.dry_run {
        rows.team().reset_exchange()?; // the team keeps what it has
        rows.deletions().delete_with_files(&records, &stamp.new_event("reset"))?;
    }
    Ok(RemoveResult { backup: backup.map(|path| path.display().to_string()), ..result })
}

/// Returns all memories: first the living ones, then the archived ones, each with the newest first.
fn find_all(rows: &MemoryRows<'_>, now_ms: i64) -> JobResult<Vec<MemoryRecord>> {
    let any = RemoveParams::default();
    let mut records = find_selected(rows, &any, false, now_ms)?;
    records.extend(find_selected(rows, &any, true, now_ms)?);
    Ok(records)
}

/// Returns the selected memories. A memory in conflict is returned once if our side is selected.
fn find_selected(
    rows: &MemoryRows<'_>,
    params: &RemoveParams,
    archived: bool,
    now_ms: i64,
) -> JobResult<Vec<MemoryRecord>> {
    let filter = parse_selection(rows, &params.selection, archived, now_ms)?;
    let mut records = rows.records().list_page(&filter, Default::default(), 0, None)?.0;
    // The other side of a conflict is removed together with ours, or stays if ours is private.
    let ours: HashSet<String> = records
        .iter()
        .filter(|record| record.side == FileSide::Ours)
        .map(|record| record.id.clone())
        .collect();
    records.retain(|record| record.side != FileSide::Theirs || !ours.contains(&record.id));
    Ok(records)
}

/// Builds the result of a removal. Fails if the memories are not those that were shown before.
fn build_removal(params: &RemoveParams, records: &[MemoryRecord]) -> JobResult<RemoveResult> {
    let digest = digest_records(records);
    check_expected(params.expect.as_ref(), &digest, "removed")?;
    let memories = records.iter().map(protocol_values::to_brief).collect();
    Ok(RemoveResult { dry_run: params.dry_run, memories, digest, ..RemoveResult::default() })
}
