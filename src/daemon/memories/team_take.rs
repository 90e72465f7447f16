//! Applies what the team has to the memories here, and merges it with what is not sent yet.

use memod_memory::file::{MemoryFile, MergeOutcome, merge_versions};
use memod_memory::id;
use memod_memory_db::{FileVersion, Rows, Side, TeamRow};
use memod_team::Version;

use super::file_form::version_of;
use super::rules::Done;

/// Who wrote a version, where only the server knows that.
const TEAM: &str = "team";

/// Applies one version.
pub(super) fn take(rows: &Rows<'_>, version: &Version) -> Done<()> {
    let Version { id, text, author, .. } = version;
    if id::parse_id(id).is_err() {
        tracing::warn!(id, "the team has a memory whose id is none");
        return Ok(());
    }
    match rows.team_row(id)? {
        Some(known) if known.text == *text => Ok(rows.end_changes(id)?),
        Some(TeamRow { base: Some(base), theirs: None, .. }) if base == *text => Ok(()), // it is known
        Some(TeamRow { text: ours, base: Some(base), .. }) => join(rows, version, &base, &ours),
        _ => put(rows, id, text, author),
    }
}

/// Applies the version because of which the server has refused a change.
pub(super) fn take_refused(rows: &Rows<'_>, version: &Version) -> Done<()> {
    let Version { id, text, .. } = version;
    match rows.team_row(id)? {
        // The change follows it, and did not say so.
        Some(TeamRow { text: ours, base: Some(base), theirs: None, .. }) if base == *text && ours != base => {
            Ok(rows.requeue(id, Some(&base), &ours)?)
        }
        _ => take(rows, version),
    }
}

/// Applies one version where all is compared: what was changed last holds. Each change of a memory has a later time than the one
/// before, whatever the clocks say. An archiving has none: that of the server is later, unless it `has_forgotten` changes. Then its
/// time is when the server has stored it, or when it came here.
pub(super) fn take_again(rows: &Rows<'_>, version: &Version, has_forgotten: bool) -> Done<()> {
    let Version { id, text, at: stored_at, .. } = version;
    match rows.team_row(id)? {
        // What ours began from, the server has forgotten.
        Some(known) if known.base.as_deref().and_then(updated) > updated(text) && known.theirs.is_none() => {
            Ok(rows.requeue(id, Some(text), &known.text)?)
        }
        Some(known) if known.text != *text && known.base.is_none() && known.why.is_none() => {
            let is_ours = match (known.text.is_empty(), text.is_empty()) {
                (false, false) => updated(&known.text) > updated(text),
                (true, _) => has_forgotten && is_over(rows, id, updated(text))?,
                (false, true) => has_forgotten && updated(&known.text) > *stored_at,
            };
            match is_ours {
                true => Ok(rows.requeue(id, Some(text), &known.text)?),
                false => take(rows, version),
            }
        }
        _ => take(rows, version),
    }
}

/// Returns whether a memory was archived here after a time, or was taken out of the team: who has done that keeps it out.
fn is_over(rows: &Rows<'_>, id: &str, after: Option<i64>) -> Done<bool> {
    match rows.get(id)?.map(|record| record.archived_at) {
        None => Ok(false), // somebody else has archived it before it ever came here, or it was purged
        Some(None) => Ok(rows.is_unshared(id)?),
        Some(archived_at) => Ok(archived_at > after),
    }
}

/// Applies one version of another repository.
pub(super) fn take_copy(rows: &Rows<'_>, repository: &str, version: &Version) -> Done<()> {
    let Version { id, text, .. } = version;
    if id::parse_id(id).is_err() {
        tracing::warn!(id, repository, "another repository has a memory whose id is none");
        return Ok(());
    }
    if text.is_empty() {
        return Ok(rows.drop_copy(repository, id)?); // it is archived
    }
    match parse(id, text) {
        Ok(version) => Ok(rows.put_copy(repository, &version)?),
        Err(why) => {
            tracing::warn!(id, repository, why, "a text of another repository shows no memory");
            Ok(rows.drop_copy(repository, id)?)
        }
    }
}

/// Merges what the team has with unsent changes.
fn join(rows: &Rows<'_>, version: &Version, base: &str, ours: &str) -> Done<()> {
    let Version { id, text, author, .. } = version;
    let merged = match base == ours && !text.is_empty() {
        // All was sent, and the server has forgotten that.
        true => later(ours, text),
        false => merge_versions(base, ours, text),
    };
    match merged {
        MergeOutcome::Theirs => {
            rows.drop_outgoing(id)?;
            put(rows, id, text, author)
        }
        MergeOutcome::Ours if text.is_empty() => {
            rows.end_conflict(id)?;
            keep(rows, id, ours)
        }
        MergeOutcome::Ours => {
            rows.end_conflict(id)?;
            Ok(rows.requeue(id, Some(text), ours)?)
        }
        MergeOutcome::Both(merged) => {
            let merged = merged.render();
            put(rows, id, &merged, author)?;
            Ok(rows.requeue(id, Some(text), &merged)?)
        }
        MergeOutcome::Conflict => {
            let parsed = parse(id, text);
            Ok(rows.put_theirs(id, text, parsed.as_ref().map_err(String::as_str))?)
        }
    }
}

/// Sends what somebody else has archived, as changed after that.
fn keep(rows: &Rows<'_>, id: &str, ours: &str) -> Done<()> {
    let Ok(mut file) = MemoryFile::parse(ours) else {
        return Ok(rows.requeue(id, Some(""), ours)?); // the exchange must not stop at one memory
    };
    let is_trusted = rows.get(id)?.is_some_and(|record| !record.is_unconfirmed);
    file.updated = rows.now_ms().max(file.updated + 1);
    let later = file.render();
    rows.set_team_version(&version_of(id, Side::Whole, file), is_trusted)?;
    rows.requeue(id, Some(""), &later)?;
    Ok(rows.set_equal_to_team(id)?)
}

/// Returns which of two texts was changed last.
fn later(ours: &str, theirs: &str) -> MergeOutcome {
    if updated(ours) > updated(theirs) { MergeOutcome::Ours } else { MergeOutcome::Theirs }
}

fn updated(text: &str) -> Option<i64> {
    MemoryFile::parse(text).ok().map(|file| file.updated)
}

/// Shows the team's side of a conflict.
pub(super) fn show_theirs(rows: &Rows<'_>, id: &str) -> Done<()> {
    let Some(theirs) = rows.team_row(id)?.and_then(|row| row.theirs) else { return Ok(()) };
    let parsed = parse(id, &theirs);
    Ok(rows.put_theirs(id, &theirs, parsed.as_ref().map_err(String::as_str))?)
}

/// Tries again to show what could not be shown.
pub(super) fn show_again(rows: &Rows<'_>, id: &str) -> Done<()> {
    match rows.team_row(id)? {
        Some(TeamRow { text, base: None, theirs: None, why: Some(_) }) => put(rows, id, &text, TEAM),
        _ => Ok(()),
    }
}

fn put(rows: &Rows<'_>, id: &str, text: &str, author: &str) -> Done<()> {
    let parsed = parse(id, text);
    Ok(rows.take_from_team(id, text, parsed.as_ref().map_err(String::as_str), author)?)
}

fn parse(id: &str, text: &str) -> Result<FileVersion, String> {
    let parsed = MemoryFile::parse(text).map_err(|why| why.to_string())?;
    Ok(version_of(id, Side::Whole, parsed))
}
