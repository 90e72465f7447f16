//! Queues the changes that a verb made to memories of the team, in the transaction of the verb.

use memod_memory::file::MemoryFile;
use memod_memory_db::{FileSide, JobError, MemoryRecord, MemoryRows};
use memod_proto::RpcError;

use crate::daemon::memories::memory_files::file_conversion::{
    build_shared_file, read_remarks_file, to_shareable_version, to_version,
};
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, archived_private_error, refused_error};
use crate::daemon::memories::rules::share_rules::{NoTeam, TeamAccess};

/// Queues the memories of the team that were changed after the change with the number `last_change`. Shares new memories that the
/// settings share with the team.
pub(in crate::daemon::memories) fn queue_changed_memories(
    rows: &MemoryRows<'_>,
    last_change: i64,
    stamp: &ChangeStamp,
) -> JobResult<()> {
    for id in rows.history().list_changed_since(last_change)? {
        let Some(mut record) = rows.records().find_memory(&id)? else { continue };
        if !record.team {
            let is_new =
                !record.shared && record.archived_at.is_none() && stamp.team.shares_with_team(&record);
            if !is_new || rows.sharing().is_unshared(&id)? {
                continue;
            }
            record = share_with_team(rows, &record, stamp)?;
        }
        match rows.team().find_archived_private(&record)? {
            Some(private) if private.archived_at == Some(stamp.now_ms) => continue, // the verb has just archived the private memory
            Some(_) => return Err(archived_private_error(&id)),
            None => {}
        }
        if record.side != FileSide::Whole {
            return Err(team_conflict_error(&id));
        }
        queue_record(rows, &record)?;
    }
    Ok(())
}

/// Queues a memory of the team to be sent, if it differs from the last known version of the team.
pub(super) fn queue_record(rows: &MemoryRows<'_>, record: &MemoryRecord) -> JobResult<()> {
    let row = rows.team_versions().find_team_row(&record.id)?;
    let was_archived = row.as_ref().is_some_and(|row| row.text.is_empty());
    let row = row.unwrap_or_default();
    // An unreadable text is replaced, because it is no memory.
    if let Some(why) = &row.why
        && let Ok(teams) = MemoryFile::parse(&row.text)
    {
        let ours = MemoryFile { created: teams.created, ..build_shared_file(rows, record, Some(&teams))? };
        if record.archived_at.is_none() && teams.equals_except_updated(&ours) {
            let version = to_version(&record.id, FileSide::Whole, teams);
            rows.team_versions().apply_team_text(&record.id, &row.text, Ok(&version), &record.author)?;
            rows.team_versions().set_team_version(&version, !record.is_unconfirmed)?;
            return Ok(rows.team().mark_equal_to_team(&record.id)?);
        }
        let message = format!("id: {} differs from the version of the team: {why}", record.id);
        return Err(refused_error(message, "make your version private with `memo share remove`"));
    }
    let known = row.text;
    if record.archived_at.is_some() {
        if !known.is_empty() {
            rows.outbox().queue_change(&record.id, "")?;
        }
        return Ok(rows.team().mark_equal_to_team(&record.id)?);
    }
    let former = MemoryFile::parse(&known).ok();
    let remarks = if former.is_none() { Some(read_remarks_file(rows, &record.id)?) } else { None };
    let mut new = build_shared_file(rows, record, former.as_ref().or(remarks.as_ref()))?;
    // A different creation time alone is no change.
    new.created = former.as_ref().map_or(new.created, |former| former.created);
    // The new version is later than the former one, whatever the clock of the former author was.
    new.updated = former.as_ref().map_or(new.updated, |former| new.updated.max(former.updated + 1));
    if was_archived {
        new.updated = new.updated.max(rows.now_ms()); // the memory was restored just now
    }
    if former.is_some_and(|former| former.equals_except_updated(&new)) {
        return Ok(rows.team().mark_equal_to_team(&record.id)?);
    }
    let text = new.render();
    let version = to_shareable_version(&record.id, &text, &new)?;
    rows.team_versions().set_team_version(&version, !record.is_unconfirmed)?;
    Ok(rows.outbox().queue_change(&record.id, &text)?)
}

/// Shares a memory with the team, and returns the shared memory. A shared memory does not expire, and its line ends are LF.
pub(in crate::daemon::memories) fn share_with_team(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    stamp: &ChangeStamp,
) -> JobResult<MemoryRecord> {
    if let TeamAccess::Outside(NoTeam { why, hint }) = &stamp.team {
        return Err(refused_error(why.clone(), hint));
    }
    if record.shared {
        let message = format!("{} is a file of this repository", record.id);
        return Err(refused_error(message, "`memo share remove` takes it out of the files first"));
    }
    rows.team().mark_team_memory(&record.id)?;
    let content = record.content.replace("\r\n", "\n");
    let after = MemoryRecord { team: true, expires_at: None, key: None, content, ..record.clone() };
    // Sharing alone must not count as a change of the memory.
    let before = MemoryRecord { team: true, ..record.clone() };
    let (after, changed) = stamp.store_if_changed(rows, "share", &before, after)?;
    if changed.is_empty() {
        rows.history().record_change(&record.id, &stamp.new_event("share"))?;
    }
    Ok(after)
}

/// Takes a memory out of the team's memories. The memory stays here as a private one.
pub(in crate::daemon::memories) fn unshare_from_team(
    rows: &MemoryRows<'_>,
    record: &MemoryRecord,
    stamp: &ChangeStamp,
) -> JobResult<()> {
    if record.side != FileSide::Whole {
        return Err(team_conflict_error(&record.id));
    }
    rows.team().make_team_memory_private(&record.id)?;
    Ok(rows.history().record_change(&record.id, &stamp.new_event("unshare"))?)
}

/// Returns the error for a memory in conflict with the team.
fn team_conflict_error(id: &str) -> JobError<RpcError> {
    refused_error(
        format!("id: {id} is in conflict with the version of the team"),
        "read both sides with `memo get ID`, then run `memo resolve ID --ours|--theirs`",
    )
}
