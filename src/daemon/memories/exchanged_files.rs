//! Checks and restores files of memories for `memo sync-notes`, which exchanges them without a branch.

use memod_memory::file::{self, MemoryFile};
use memod_memory::{fields, id};
use memod_memory_db::{Record, Rows, Side};
use memod_proto::Caveats;
use memod_proto::memory::{
    CheckFilesParams, CheckFilesResult, FileFate, RestoreFileParams, RestoreFileResult,
};

use super::file_form::version_of;
use super::file_write::begin;
use super::rules::{Done, bad};
use super::stamp::Stamp;

/// Why a memory is archived whose file is gone.
const BY_FILE: &str = "file";

/// Returns why others may not have texts. That does not depend on what is stored.
pub(super) fn check(_: &Rows<'_>, params: &CheckFilesParams) -> Done<CheckFilesResult> {
    let why_no_file = |text: &String| {
        let parsed = file::text_of(text.as_bytes()).and_then(|text| MemoryFile::parse(&text));
        parsed.err().map(|why| why.to_string())
    };
    let why_no_text = |text: &String| fields::check_name("text", text).err().map(|why| why.to_string());
    Ok(CheckFilesResult {
        files: params.files.iter().map(why_no_file).collect(),
        texts: params.texts.iter().map(why_no_text).collect(),
    })
}

/// Brings back a file that has vanished without a verb, if the memory was changed after the file was exchanged.
pub(super) fn restore(rows: &Rows<'_>, params: &RestoreFileParams, stamp: &Stamp) -> Done<RestoreFileResult> {
    let id = id::parse_id(&params.id).map_err(bad)?;
    let known = rows.get(&id)?;
    let fate = match known.filter(|known| known.archived_why.as_deref() == Some(BY_FILE)) {
        Some(known) => bring_back(rows, &known, &params.text, stamp)?,
        // Another worktree may have it, and a verb may have taken it out of this one.
        None if rows.has(&id)? && rows.is_removed_by_verb(&file::file_name(&id))? => FileFate::Removed,
        // What the database does not know has vanished, too: it may be an older one.
        None => FileFate::AsItWas,
    };
    Ok(RestoreFileResult { fate, caveats: Caveats::default() })
}

fn bring_back(rows: &Rows<'_>, known: &Record, text: &str, stamp: &Stamp) -> Done<FileFate> {
    let exchanged = match file::parse_sides(text) {
        Ok(None) => MemoryFile::parse(text).ok(),
        Ok(Some([ours, _])) => match MemoryFile::parse(&ours) {
            Ok(ours) => Some(ours),
            Err(_) => return Ok(FileFate::AsItWas), // of a conflict with a side that only the text has
        },
        Err(_) => return Ok(FileFate::AsItWas),
    };
    let hash = exchanged.as_ref().map(|file| version_of(&known.id, Side::Whole, file.clone()).hash);
    if hash.is_some() && hash == rows.version(&known.id)? {
        return Ok(FileFate::AsItWas);
    }
    rows.restore(std::slice::from_ref(known), &stamp.event("restore"))?;
    begin(rows, &known.id, stamp)?;
    if let Some(exchanged) = exchanged {
        stamp.set_resolved(&known.id, exchanged); // its comments, and keys that this version does not know
    }
    Ok(FileFate::Written)
}
