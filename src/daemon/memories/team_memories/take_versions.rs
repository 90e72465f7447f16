//! Applies versions of the team to the memories here, and merges them with unsent changes.

use memod_memory::file::{MemoryFile, MergeOutcome, merge_versions};
use memod_memory::id;
use memod_memory_db::{FileSide, FileVersion, MemoryRows, TeamRow};
use memod_team::MemoryVersion;

use crate::daemon::memories::memory_files::file_conversion::to_version;
use crate::daemon::memories::rules::memory_rules::JobResult;

/// Stands for the author of a version if only the server knows the author.
const UNKNOWN_AUTHOR: &str = "team";

/// Applies one version of the team to the memory with its id.
pub(super) fn apply_version(rows: &MemoryRows<'_>, version: &MemoryVersion) -> JobResult<()> {
    let MemoryVersion { id, text, author, .. } = version;
    if id::parse_id(id).is_err() {
        tracing::warn!(id, "the team has a memory with an invalid id");
        return Ok(());
    }
    match rows.team_versions().find_team_row(id)? {
        Some(known) if known.text == *text => Ok(rows.team().mark_sent(id)?),
        Some(TeamRow { base: Some(base), theirs: None, .. }) if base == *text => Ok(()), // this version was applied before
        Some(TeamRow { text: ours, base: Some(base), .. }) => merge_unsent(rows, version, &base, &ours),
        _ => apply_text(rows, id, text, author),
    }
}

/// Applies the version that made the server refuse a change.
pub(super) fn apply_refusing_version(rows: &MemoryRows<'_>, version: &MemoryVersion) -> JobResult<()> {
    let MemoryVersion { id, text, .. } = version;
    match rows.team_versions().find_team_row(id)? {
        // The change is based on this version, but was sent without naming the version.
        Some(TeamRow { text: ours, base: Some(base), theirs: None, .. }) if base == *text && ours != base => {
            Ok(rows.outbox().requeue_change(id, Some(&base), &ours)?)
        }
        _ => apply_version(rows, version),
    }
}

/// Applies one version during a comparison of all memories, where the later change wins. Each change of a memory has a later time
/// than the change before, whatever the clocks were. An archived version has no time: if either version is archived, that of the
/// server counts as later. But if the server `server_has_forgotten` changes, the time of an archived version is when the server stored
/// the version, or when the memory was archived here.
pub(super) fn apply_compared_version(
    rows: &MemoryRows<'_>,
    version: &MemoryVersion,
    server_has_forgotten: bool,
) -> JobResult<()> {
    let MemoryVersion { id, text, at: stored_at, .. } = version;
    match rows.team_versions().find_team_row(id)? {
        // The server has forgotten the version on which ours is based.
        Some(known)
            if known.base.as_deref().and_then(parse_updated) > parse_updated(text)
                && known.theirs.is_none() =>
        {
            Ok(rows.outbox().requeue_change(id, Some(text), &known.text)?)
        }
        Some(known) if known.text != *text && known.base.is_none() && known.why.is_none() => {
            let is_ours = match (known.text.is_empty(), text.is_empty()) {
                (false, false) => parse_updated(&known.text) > parse_updated(text),
                (true, _) => server_has_forgotten && was_removed_after(rows, id, parse_updated(text))?,
                (false, true) => server_has_forgotten && parse_updated(&known.text) > *stored_at,
            };
            match is_ours {
                true => Ok(rows.outbox().requeue_change(id, Some(text), &known.text)?),
                false => apply_version(rows, version),
            }
        }
        _ => apply_version(rows, version),
    }
}

/// Returns whether a memory was archived here after a time, or was taken out of the team and so must not come back.
fn was_removed_after(rows: &MemoryRows<'_>, id: &str, after: Option<i64>) -> JobResult<bool> {
    match rows.records().find_memory(id)?.map(|record| record.archived_at) {
        None => Ok(false), // the memory was archived before it came here, or was purged here
        Some(None) => Ok(rows.sharing().is_unshared(id)?),
        Some(archived_at) => Ok(archived_at > after),
    }
}

/// Stores one version of another repository as a copy, or deletes the copy if the version is archived or unreadable.
pub(super) fn apply_copy(rows: &MemoryRows<'_>, repository: &str, version: &MemoryVersion) -> JobResult<()> {
    let MemoryVersion { id, text, .. } = version;
    if id::parse_id(id).is_err() {
        tracing::warn!(id, repository, "another repository has a memory with an invalid id");
        return Ok(());
    }
    if text.is_empty() {
        return Ok(rows.followed().delete_copy(repository, id)?); // the version is archived
    }
    match parse_version(id, text) {
        Ok(version) => Ok(rows.followed().store_followed_memory(repository, &version)?),
        Err(why) => {
            tracing::warn!(id, repository, why, "a text of another repository is not a memory");
            Ok(rows.followed().delete_copy(repository, id)?)
        }
    }
}

/// Merges a version of the team with the unsent change of the memory, from `base` to `ours`.
fn merge_unsent(rows: &MemoryRows<'_>, version: &MemoryVersion, base: &str, ours: &str) -> JobResult<()> {
    let MemoryVersion { id, text, author, .. } = version;
    let merged = match base == ours && !text.is_empty() {
        // The change was sent, and the server has forgotten it.
        true => choose_later(ours, text),
        false => merge_versions(base, ours, text),
    };
    match merged {
        MergeOutcome::Theirs => {
            rows.outbox().delete_outgoing(id)?;
            apply_text(rows, id, text, author)
        }
        MergeOutcome::Ours if text.is_empty() => {
            rows.team_versions().end_conflict(id)?;
            queue_ours_after_archiving(rows, id, ours)
        }
        MergeOutcome::Ours => {
            rows.team_versions().end_conflict(id)?;
            Ok(rows.outbox().requeue_change(id, Some(text), ours)?)
        }
        MergeOutcome::Both(merged) => {
            let merged = merged.render();
            apply_text(rows, id, &merged, author)?;
            Ok(rows.outbox().requeue_change(id, Some(text), &merged)?)
        }
        MergeOutcome::Conflict => {
            let parsed = parse_version(id, text);
            Ok(rows.team_versions().put_team_conflict(id, text, parsed.as_ref().map_err(String::as_str))?)
        }
    }
}

/// Queues our version of a memory that another member archived, as a change after the archiving.
fn queue_ours_after_archiving(rows: &MemoryRows<'_>, id: &str, ours: &str) -> JobResult<()> {
    let Ok(mut file) = MemoryFile::parse(ours) else {
        return Ok(rows.outbox().requeue_change(id, Some(""), ours)?); // the exchange must not stop at one memory
    };
    let is_trusted = rows.records().find_memory(id)?.is_some_and(|record| !record.is_unconfirmed);
    file.updated = rows.now_ms().max(file.updated + 1);
    let later = file.render();
    rows.team_versions().set_team_version(&to_version(id, FileSide::Whole, file), is_trusted)?;
    rows.outbox().requeue_change(id, Some(""), &later)?;
    Ok(rows.team().mark_equal_to_team(id)?)
}

/// Chooses the text that was changed last.
fn choose_later(ours: &str, theirs: &str) -> MergeOutcome {
    if parse_updated(ours) > parse_updated(theirs) { MergeOutcome::Ours } else { MergeOutcome::Theirs }
}

fn parse_updated(text: &str) -> Option<i64> {
    MemoryFile::parse(text).ok().map(|file| file.updated)
}

/// Stores the team's side of a conflict as a memory beside ours, if the memory is in conflict.
pub(super) fn store_team_side(rows: &MemoryRows<'_>, id: &str) -> JobResult<()> {
    let Some(theirs) = rows.team_versions().find_team_row(id)?.and_then(|row| row.theirs) else {
        return Ok(());
    };
    let parsed = parse_version(id, &theirs);
    Ok(rows.team_versions().put_team_conflict(id, &theirs, parsed.as_ref().map_err(String::as_str))?)
}

/// Tries again to apply the team's text of a memory, if it could not be applied before.
pub(in crate::daemon::memories) fn retry_apply_text(rows: &MemoryRows<'_>, id: &str) -> JobResult<()> {
    match rows.team_versions().find_team_row(id)? {
        Some(TeamRow { text, base: None, theirs: None, why: Some(_) }) => {
            apply_text(rows, id, &text, UNKNOWN_AUTHOR)
        }
        _ => Ok(()),
    }
}

fn apply_text(rows: &MemoryRows<'_>, id: &str, text: &str, author: &str) -> JobResult<()> {
    let parsed = parse_version(id, text);
    Ok(rows.team_versions().apply_team_text(id, text, parsed.as_ref().map_err(String::as_str), author)?)
}

fn parse_version(id: &str, text: &str) -> Result<FileVersion, String> {
    let parsed = MemoryFile::parse(text).map_err(|why| why.to_string())?;
    Ok(to_version(id, FileSide::Whole, parsed))
}
