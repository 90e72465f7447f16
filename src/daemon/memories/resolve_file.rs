//! Ends the conflict of a memory in its file.

use std::collections::BTreeSet;

use memod_base::types::memory_file;
use memod_engine::errors::RpcResult;
use memod_memory::file::MemoryFile;
use memod_memory::{fields, file};
use memod_memory_db::{FileState, Record, Rows, ShownBy, Stopped};
use memod_proto::memory::{ResolveFileParams, ResolveFileResult, SideName};
use memod_proto::{Caveats, RpcError, code};
use serde_json::Value;

use super::file_check::unmerged;
use super::file_form::{file_of, is_rebasing, kept_file, outcome};
use super::file_write::text_on_disk;
use super::rules::{Done, bad, find, refused, unreadable};
use super::stamp::Stamp;
use super::transaction::Call;
use super::{resolve_own, show, team_resolve};

/// Writes the outcome of a conflict; what git is told is for the user.
pub(super) async fn resolve(call: &Call<'_>) -> RpcResult<Value> {
    call.write(put).await
}

fn put(rows: &Rows<'_>, params: &ResolveFileParams, stamp: &Stamp) -> Done<ResolveFileResult> {
    let found = find(rows, &params.id)?;
    if found.team {
        return team_resolve::put(rows, &found, params, stamp);
    }
    if rows.is_disputed(&found.id)? {
        return resolve_own::put(rows, &found, params, stamp);
    }
    if let Some(why) = rows.file_trouble(&found.id)?.filter(|_| !found.shared) {
        return Err(unreadable(&found.id, &why)); // the outcome would be another conflict, with what is this user's
    }
    let id = found.id;
    let name = file::file_name(&id);
    let text = text_on_disk(stamp, &name)?.unwrap_or_default();
    let mut parsed = match (file::own_side_first(&text, is_rebasing(&stamp.layout)), params.side) {
        (Ok(None), _) => return Err(not_in_conflict(&id, stamp)),
        (Ok(Some([_, theirs])), Some(SideName::Theirs)) => MemoryFile::parse(&theirs).map_err(bad)?,
        (Ok(Some([ours, _])), Some(SideName::Ours)) => MemoryFile::parse(&ours).map_err(bad)?,
        (_, Some(SideName::Both)) => return Err(no_own_side(&id)),
        (_, None) if params.text.is_none() => return Err(nothing_chosen()),
        // The text alone was chosen.
        (Ok(Some([ours, theirs])), None) => MemoryFile::of_sides(&ours, &theirs).map_err(bad)?,
        // With a text of its own, what is beside it is as it was before the conflict.
        (Err(_), None) => file_of(rows, &find(rows, &id)?, Some(&kept_file(rows, &id)?))?,
        (Err(why), Some(_)) => {
            return Err(refused(
                format!("id: {id} is {why}"),
                "`memo resolve ID --text TEXT` says what holds",
            ));
        }
    };
    if let Some(text) = &params.text {
        parsed.content = text_of(text)?;
    }
    let theirs = rows.their_side(&id)?;
    write_outcome(rows, &id, parsed, theirs.as_ref(), stamp)?;
    let record = find(rows, &id)?;
    let path = memory_file(&id);
    Ok(ResolveFileResult { memory: show::memory(record, stamp.now_ms), path, caveats: Caveats::default() })
}

/// Returns the error for a memory without two sides. Git may still wait for an answer: one side has removed the file.
fn not_in_conflict(id: &str, stamp: &Stamp) -> Stopped<RpcError> {
    let path = memory_file(id);
    match unmerged(&stamp.layout).unwrap_or_default().into_iter().find(|check| check.name == path) {
        None => refused(format!("id: {id} is not in conflict"), "`memo update` changes it"),
        Some(check) => {
            let error = RpcError::new(code::INVALID_PARAMS, format!("{path}: {}", check.detail));
            Stopped::Refused(error.with_hint(check.hint.unwrap_or_default()))
        }
    }
}

/// Returns a text that was given as the outcome, as a file has it.
pub(super) fn text_of(given: &str) -> Done<String> {
    Ok(fields::validate_content(given, false).map_err(bad)?.text.replace("\r\n", "\n"))
}

/// Makes the outcome of a conflict what the memory says, and its file. What `theirs` said is in the history.
pub(super) fn write_outcome(
    rows: &Rows<'_>,
    id: &str,
    mut file: MemoryFile,
    theirs: Option<&Record>,
    stamp: &Stamp,
) -> Done<()> {
    file.updated = stamp.now_ms.max(file.updated.min(stamp.now_ms) + 1);
    let version = outcome(id, &file)?;
    stamp.set_resolved(id, file);
    let event = stamp.event("resolve");
    let whole = FileState {
        name: file::file_name(id),
        hash: version.hash,
        shown: ShownBy::Versions(vec![version]),
        event: Some(event.clone()),
        edited: None,
    };
    let last = rows.history(id)?.len();
    rows.take_files(&[whole], &BTreeSet::new())?;
    // It was noted if it is not what the memory said before, but without what theirs said.
    let is_noted = rows.history(id)?.iter().skip(last).any(|change| change.action == event.action);
    if theirs.is_some() || !is_noted {
        rows.note_their_side(theirs, &find(rows, id)?, &event)?;
    }
    if !stamp.is_agent() {
        rows.trust(id)?; // who chooses has read it
    }
    Ok(())
}

pub(super) fn nothing_chosen() -> Stopped<RpcError> {
    refused("side, text: neither is given".to_owned(), "take one side, or give the text")
}

/// Returns the error for `both` where neither side is this user's alone.
pub(super) fn no_own_side(id: &str) -> Stopped<RpcError> {
    refused(
        format!("side: both: neither side of {id} is yours alone"),
        "take one side with --ours or --theirs, and `memo add` the other text",
    )
}
