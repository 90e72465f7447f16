//! Archives, restores and deletes memories.

use std::collections::HashSet;
use std::path::Path;

use memod_base::types::memory_file;
use memod_engine::errors::RpcResult;
use memod_memory::id;
use memod_memory_db::{Record, Rows, Side};
use memod_proto::Caveats;
use memod_proto::memory::{IdsParams, MemoriesResult, RemoveParams, RemoveResult, Selection};
use serde_json::Value;

use super::file_write::begin;
use super::queries::{get, named};
use super::rules::{
    Done, check_expected, check_text, digest, find_archived, joined, memory_filter, not_found,
    part_from_archived, refused,
};
use super::show;
use super::stamp::Stamp;
use super::transaction::Call;

/// How a notice counts memories of the team that are archived, or would be in a dry run.
pub(super) const ARCHIVED_THERE: [&str; 2] =
    ["of the team, archived there too", "of the team, would be archived there too"];

pub(super) fn restore(rows: &Rows<'_>, params: &IdsParams, stamp: &Stamp) -> Done<MemoriesResult> {
    let (mut brought, mut written) = (Vec::new(), Vec::new());
    for id in params.ids.iter().filter_map(|typed| id::parse_id(typed).ok()) {
        // A memory that only another worktree has becomes a file of this one, too.
        if rows.is_elsewhere(&id)? {
            begin(rows, &id, stamp)?;
            rows.note_change(&id, &stamp.event("restore"))?;
            written.push(memory_file(&id));
            brought.push(id);
        }
    }
    for record in named(rows, params, find_archived)?.iter().filter(|record| !brought.contains(&record.id)) {
        if record.lives(stamp.now_ms) {
            let message = format!("id: {} is not in the archive", record.id);
            return Err(not_found(message, "`memo list --archived` shows what is"));
        }
        check_text(rows, record)?;
        // One at a time, because two of them may have the same text.
        rows.restore(std::slice::from_ref(record), &stamp.event("restore"))?;
        if record.shared {
            begin(rows, &record.id, stamp)?;
            written.push(memory_file(&record.id));
        }
    }
    Ok(MemoriesResult { caveats: Caveats::of_notice(written_notice(&written)), ..get(rows, params)? })
}

/// Returns a notice on files that are written.
fn written_notice(files: &[String]) -> Option<String> {
    let [first, others @ ..] = files else { return None };
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    Some(format!(
        "shared as before: {first}{more} written in this worktree; commit the change, or `memo unshare` what is to be yours alone"
    ))
}

pub(super) fn forget(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    if params.selection == Selection::default() {
        return Err(refused("nothing says which memories".to_owned(), "name ids, or --container, --tag, …"));
    }
    let records = selected(rows, params, false, stamp.now_ms)?;
    let result = removed(params, &records)?;
    let mut notices = Vec::from_iter(removal_notice(&records, ARCHIVED_THERE, params.dry_run));
    // A dry run does all of this, too, and it is undone.
    for record in records.iter().filter(|record| record.shared) {
        notices.extend(part_from_archived(rows, &record.id, &stamp.event("forget"), params.dry_run)?);
    }
    rows.archive(&records, "forgotten", &stamp.event("forget"))?;
    let mut n_elsewhere = 0;
    for record in &records {
        n_elsewhere += usize::from(rows.is_elsewhere(&record.id)?);
    }
    notices.extend((n_elsewhere > 0).then(|| {
        let not_there = if params.dry_run { "would not be in the archive" } else { "not in the archive" };
        format!(
            "{not_there}, because other worktrees have their files: {n_elsewhere}; `memo restore ID` brings them back here too"
        )
    }));
    Ok(RemoveResult { caveats: Caveats::of_notice(joined(&notices)), ..result })
}

pub(super) fn purge(rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp) -> Done<RemoveResult> {
    if !params.dry_run && params.selection.ids.is_empty() {
        check_shown(params)?; // a condition that is mistyped means all of the archive
    }
    let mut records = selected(rows, params, true, stamp.now_ms)?;
    let n_meant = records.len();
    if params.selection.ids.is_empty() {
        // The clock may be wrong, so an expired memory is archived only once the time has certainly passed.
        records.retain(|record| record.archived_at.is_some());
    }
    let mut result = removed(params, &records)?;
    if records.len() < n_meant {
        result.caveats.notice = Some(format!(
            "{} more are over by the clock, but so much time has not been seen to pass; name their ids to delete them",
            n_meant - records.len()
        ));
    }
    if !params.dry_run {
        rows.delete(&records, &stamp.event("purge"))?;
    }
    Ok(result)
}

/// Deletes all memories, living and archived, after a backup of them.
pub(super) async fn reset(call: &Call<'_>) -> RpcResult<Value> {
    let params: RemoveParams = call.params()?;
    if params.selection != Selection::default() {
        let message = "reset removes all memories; conditions are not for it".to_owned();
        return Err(refused(message, "`memo forget` and `memo purge` take conditions").into());
    }
    if params.dry_run {
        return call.write_or_rehearse(|rows, params, stamp| delete_all(rows, params, stamp, None)).await;
    }
    check_shown(&params)?;
    let changes = |rows: &Rows<'_>, params: &RemoveParams, stamp: &Stamp| {
        let records = all(rows, stamp.now_ms)?;
        removed(params, &records).map(|_| !records.is_empty())
    };
    call.write_backed_up(params, changes, delete_all).await
}

/// Refuses to delete what nobody was shown: it is gone for good.
fn check_shown(params: &RemoveParams) -> Done<()> {
    match params.expect {
        Some(_) => Ok(()),
        None => {
            let message = "expect: missing; only memories that were shown are deleted".to_owned();
            Err(refused(message, "send dry_run first, and the digest of its result as expect"))
        }
    }
}

fn delete_all(
    rows: &Rows<'_>,
    params: &RemoveParams,
    stamp: &Stamp,
    backup: Option<&Path>,
) -> Done<RemoveResult> {
    let records = all(rows, stamp.now_ms)?;
    let team = ["kept by the team", "would be kept by the team"];
    let caveats = Caveats::of_notice(removal_notice(&records, team, params.dry_run));
    let result = RemoveResult { caveats, ..removed(params, &records)? };
    if !params.dry_run {
        rows.forget_exchange()?; // the team keeps what it has
        rows.delete_with_files(&records, &stamp.event("reset"))?;
    }
    Ok(RemoveResult { backup: backup.map(|path| path.display().to_string()), ..result })
}

/// Returns all memories: the living, then the archive, the newest first.
fn all(rows: &Rows<'_>, now_ms: i64) -> Done<Vec<Record>> {
    let any = RemoveParams::default();
    let mut records = selected(rows, &any, false, now_ms)?;
    records.extend(selected(rows, &any, true, now_ms)?);
    Ok(records)
}

fn selected(rows: &Rows<'_>, params: &RemoveParams, archived: bool, now_ms: i64) -> Done<Vec<Record>> {
    let filter = memory_filter(rows, &params.selection, archived, now_ms)?;
    let mut records = rows.list(&filter, Default::default(), 0, None)?.0;
    // The other side of a conflict goes with ours, or stays when ours is this user's alone.
    let ours: HashSet<String> =
        records.iter().filter(|record| record.side == Side::Ours).map(|record| record.id.clone()).collect();
    records.retain(|record| record.side != Side::Theirs || !ours.contains(&record.id));
    Ok(records)
}

/// Returns a notice on what of memories that are removed, or would be in a dry run, is not this user's alone; `team` says what becomes
/// of those that the team has.
pub(super) fn removal_notice(records: &[Record], team: [&str; 2], dry_run: bool) -> Option<String> {
    let ours: Vec<&Record> = records.iter().filter(|record| record.archived_at.is_none()).collect();
    let n = |is_one: fn(&Record) -> bool| ours.iter().filter(|record| is_one(record)).count();
    let with_files =
        ["removed with their files in the worktree", "would be removed with their files in the worktree"];
    let staying = ["staying as others have them", "would stay as others have them"];
    let in_conflict =
        ["in conflict, removed with both sides", "in conflict, would be removed with both sides"];
    let counted = [
        (n(|record| record.shared), with_files),
        (n(|record| !record.is_shared() && record.side == Side::Ours), staying),
        (n(|record| record.shared && record.side == Side::Ours), in_conflict),
        (n(|record| record.team), team),
    ];
    let told = counted.into_iter().filter(|(n, _)| *n > 0);
    joined(&told.map(|(n, words)| format!("{}: {n}", words[usize::from(dry_run)])).collect::<Vec<String>>())
}

/// Returns the memories that would be removed; fails if they are not those that were shown before.
fn removed(params: &RemoveParams, records: &[Record]) -> Done<RemoveResult> {
    let digest = digest(records);
    check_expected(params.expect.as_ref(), &digest, "removed")?;
    let memories = records.iter().map(show::brief).collect();
    Ok(RemoveResult { dry_run: params.dry_run, memories, digest, ..RemoveResult::default() })
}
