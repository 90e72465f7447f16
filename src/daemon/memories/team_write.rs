//! Queues what a verb has changed of the team's memories, in its transaction.

use memod_memory::file::MemoryFile;
use memod_memory_db::{Record, Rows, Side, Stopped};
use memod_proto::RpcError;

use super::file_form::{file_of, kept_file, shareable, version_of};
use super::rules::{Done, archived_beside, refused};
use super::share_rules::{NoTeam, TeamAccess};
use super::stamp::Stamp;

/// Queues the memories that were changed after a row of the history.
pub(super) fn queue(rows: &Rows<'_>, last_change: i64, stamp: &Stamp) -> Done<()> {
    for id in rows.changed_since(last_change)? {
        let Some(mut record) = rows.get(&id)? else { continue };
        if !record.team {
            let is_new = !record.shared && record.archived_at.is_none() && stamp.team.takes(&record);
            if !is_new || rows.is_unshared(&id)? {
                continue;
            }
            record = share(rows, &record, stamp)?;
        }
        match rows.archived_beside(&record)? {
            Some(own) if own.archived_at == Some(stamp.now_ms) => continue, // that is what was changed
            Some(_) => return Err(archived_beside(&id)),
            None => {}
        }
        if record.side != Side::Whole {
            return Err(in_conflict(&id));
        }
        put(rows, &record)?;
    }
    Ok(())
}

/// Queues what a memory of the team says, if that differs from what is known of the team's.
pub(super) fn put(rows: &Rows<'_>, record: &Record) -> Done<()> {
    let row = rows.team_row(&record.id)?;
    let was_archived = row.as_ref().is_some_and(|row| row.text.is_empty());
    let row = row.unwrap_or_default();
    // A text that cannot be read is replaced: it is nobody's memory.
    if let Some(why) = &row.why
        && let Ok(teams) = MemoryFile::parse(&row.text)
    {
        let ours = MemoryFile { created: teams.created, ..file_of(rows, record, Some(&teams))? };
        if record.archived_at.is_none() && teams.says_same(&ours) {
            let version = version_of(&record.id, Side::Whole, teams);
            rows.take_from_team(&record.id, &row.text, Ok(&version), &record.author)?;
            rows.set_team_version(&version, !record.is_unconfirmed)?;
            return Ok(rows.set_equal_to_team(&record.id)?);
        }
        let message = format!("id: {} is not as the team has it: {why}", record.id);
        return Err(refused(message, "`memo unshare` keeps what is here alone"));
    }
    let known = row.text;
    if record.archived_at.is_some() {
        if !known.is_empty() {
            rows.queue(&record.id, "")?;
        }
        return Ok(rows.set_equal_to_team(&record.id)?);
    }
    let former = MemoryFile::parse(&known).ok();
    let kept = if former.is_none() { Some(kept_file(rows, &record.id)?) } else { None };
    let mut new = file_of(rows, record, former.as_ref().or(kept.as_ref()))?;
    // What this clock says of the time before is no change.
    new.created = former.as_ref().map_or(new.created, |former| former.created);
    // Later than what it follows, whatever the clock of who wrote that said.
    new.updated = former.as_ref().map_or(new.updated, |former| new.updated.max(former.updated + 1));
    if was_archived {
        new.updated = new.updated.max(rows.now_ms()); // it is back since now
    }
    if former.is_some_and(|former| former.says_same(&new)) {
        return Ok(rows.set_equal_to_team(&record.id)?);
    }
    let text = new.render();
    let version = shareable(&record.id, &text, &new)?;
    rows.set_team_version(&version, !record.is_unconfirmed)?;
    Ok(rows.queue(&record.id, &text)?)
}

/// Makes a memory one of the team's; it does not expire any more, and has LF.
pub(super) fn share(rows: &Rows<'_>, record: &Record, stamp: &Stamp) -> Done<Record> {
    if let TeamAccess::No(NoTeam { why, hint }) = &stamp.team {
        return Err(refused(why.clone(), hint));
    }
    if record.shared {
        let message = format!("{} is a file of this repository", record.id);
        return Err(refused(message, "`memo unshare` takes it out of the files first"));
    }
    rows.begin_team(&record.id)?;
    let content = record.content.replace("\r\n", "\n");
    let after = Record { team: true, expires_at: None, key: None, content, ..record.clone() };
    // That the team has it is no change of what it says.
    let before = Record { team: true, ..record.clone() };
    let (after, changed) = stamp.put(rows, "share", &before, after)?;
    if changed.is_empty() {
        rows.note_change(&record.id, &stamp.event("share"))?;
    }
    Ok(after)
}

/// Takes a memory out of the team; it stays here.
pub(super) fn unshare(rows: &Rows<'_>, record: &Record, stamp: &Stamp) -> Done<()> {
    if record.side != Side::Whole {
        return Err(in_conflict(&record.id));
    }
    rows.leave_team(&record.id)?;
    Ok(rows.note_change(&record.id, &stamp.event("unshare"))?)
}

/// Returns the error for a memory of which the team has another version.
fn in_conflict(id: &str) -> Stopped<RpcError> {
    refused(
        format!("id: {id} is in conflict with what the team has"),
        "`memo get ID` shows both sides, `memo resolve ID --ours|--theirs` ends it",
    )
}
