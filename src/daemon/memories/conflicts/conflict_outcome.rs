//! Validates and stores the outcome of a conflict.

use std::collections::BTreeSet;

use memod_memory::file::MemoryFile;
use memod_memory::{fields, file};
use memod_memory_db::{JobError, MemoriesInFile, MemoryFileSnapshot, MemoryRecord, MemoryRows};
use memod_proto::RpcError;

use crate::daemon::memories::memory_files::file_conversion::to_outcome_version;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error, find_memory, refused_error};

/// Validates the text that the caller gives as the outcome of a conflict, and returns the text with LF line ends.
pub(in crate::daemon::memories) fn validate_outcome(given: &str) -> JobResult<String> {
    Ok(fields::validate_content(given, false).map_err(field_error)?.text.replace("\r\n", "\n"))
}

/// Stores the outcome of a conflict in the memory and its file. The text of `theirs` goes into the history.
pub(in crate::daemon::memories) fn write_outcome(
    rows: &MemoryRows<'_>,
    id: &str,
    mut file: MemoryFile,
    theirs: Option<&MemoryRecord>,
    stamp: &ChangeStamp,
) -> JobResult<()> {
    file.updated = stamp.now_ms.max(file.updated.min(stamp.now_ms) + 1);
    let version = to_outcome_version(id, &file)?;
    stamp.set_resolved(id, file);
    let event = stamp.new_event("resolve");
    let resolved = MemoryFileSnapshot {
        name: file::file_name(id),
        hash: version.hash,
        memories: MemoriesInFile::Versions(vec![version]),
        event: Some(event.clone()),
        edited_ms: None,
    };
    let n_former = rows.history().list_history(id)?.len();
    rows.file_updates().apply_files(&[resolved], &BTreeSet::new())?;
    // `apply_files` adds to the history only if the memory differs from before, and never adds the text of theirs.
    let is_noted =
        rows.history().list_history(id)?.iter().skip(n_former).any(|change| change.action == event.action);
    if theirs.is_some() || !is_noted {
        rows.conflicts().record_their_side(theirs, &find_memory(rows, id)?, &event)?;
    }
    if !stamp.is_agent() {
        rows.sharing().trust_memory(id)?; // a person who chooses has read it
    }
    Ok(())
}

/// Returns the error for a request that names neither a side nor a text.
pub(in crate::daemon::memories) fn no_outcome_chosen_error() -> JobError<RpcError> {
    refused_error("side, text: neither is given".to_owned(), "choose a side, or give a new text")
}

/// Returns the error for the choice of `both` where neither side is a private memory.
pub(in crate::daemon::memories) fn no_private_side_error(id: &str) -> JobError<RpcError> {
    refused_error(
        format!("side: both: neither side of {id} is a private memory"),
        "choose a side with --ours or --theirs, and add the other text with `memo add`",
    )
}
