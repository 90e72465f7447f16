//! Checks and restores files of memories for `memo share sync`, which exchanges them without a branch.

use memod_memory::file::{self, MemoryFile};
use memod_memory::{fields, id};
use memod_memory_db::{FileSide, MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{
    CheckFilesParams, CheckFilesResult, FileFate, RestoreFileParams, RestoreFileResult,
};

use super::file_conversion::to_version;
use super::plan_files::register_file;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error};

/// Reason of archiving: the file of the memory is gone.
const ARCHIVED_BY_FILE: &str = "file";

/// Answers `memory.check_files`: returns for each file and each text why it may not be exchanged. Needs no stored memories.
pub(in crate::daemon::memories) fn check_exchanged_files(
    _: &MemoryRows<'_>,
    params: &CheckFilesParams,
) -> JobResult<CheckFilesResult> {
    Ok(CheckFilesResult {
        files: params.files.iter().map(|text| explain_invalid_file(text)).collect(),
        texts: params.texts.iter().map(|text| explain_invalid_text(text)).collect(),
    })
}

/// Returns why a text is not the file of a memory; `None` if it is.
fn explain_invalid_file(text: &str) -> Option<String> {
    let parsed = file::decode_file(text.as_bytes()).and_then(|text| MemoryFile::parse(&text));
    parsed.err().map(|why| why.to_string())
}

/// Returns why a text may not be exchanged; `None` if it may.
fn explain_invalid_text(text: &str) -> Option<String> {
    fields::check_public_text("text", text).err().map(|why| why.to_string())
}

/// Answers `memory.restore_file`: restores a file that no verb of memod removed, if the memory was changed after the exchange.
pub(in crate::daemon::memories) fn restore_file(
    rows: &MemoryRows<'_>,
    params: &RestoreFileParams,
    stamp: &ChangeStamp,
) -> JobResult<RestoreFileResult> {
    let id = id::parse_id(&params.id).map_err(field_error)?;
    let known = rows.records().find_memory(&id)?;
    let fate = match known.filter(|known| known.archived_why.as_deref() == Some(ARCHIVED_BY_FILE)) {
        Some(known) => restore_exchanged_memory(rows, &known, &params.text, stamp)?,
        // Another worktree may have the memory although a verb removed its file from this one.
        None if rows.records().has_memory(&id)?
            && rows.written_files().is_removed_by_verb(&file::file_name(&id))? =>
        {
            FileFate::Removed
        }
        // The file of an unknown memory vanished too: the database may be older than the file.
        None => FileFate::AsItWas,
    };
    Ok(RestoreFileResult { fate, caveats: Caveats::default() })
}

/// Restores an archived memory and its file, unless the memory still equals the exchanged text. Returns what became of the file.
fn restore_exchanged_memory(
    rows: &MemoryRows<'_>,
    known: &MemoryRecord,
    text: &str,
    stamp: &ChangeStamp,
) -> JobResult<FileFate> {
    let exchanged = match file::parse_conflict_sides(text) {
        Ok(None) => MemoryFile::parse(text).ok(),
        Ok(Some([ours, _])) => match MemoryFile::parse(&ours) {
            Ok(ours) => Some(ours),
            Err(_) => return Ok(FileFate::AsItWas), // a side of the conflict cannot be read
        },
        Err(_) => return Ok(FileFate::AsItWas),
    };
    let hash = exchanged.as_ref().map(|file| to_version(&known.id, FileSide::Whole, file.clone()).hash);
    if hash.is_some() && hash == rows.sharing().main_file_hash(&known.id)? {
        return Ok(FileFate::AsItWas);
    }
    rows.archive().restore_memories(std::slice::from_ref(known), &stamp.new_event("restore"))?;
    register_file(rows, &known.id, stamp)?;
    if let Some(exchanged) = exchanged {
        stamp.set_resolved(&known.id, exchanged); // keeps its comments, and the keys that this version does not know
    }
    Ok(FileFate::Written)
}
