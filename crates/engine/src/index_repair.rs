//! Records that index.db was damaged and is built anew: for a day, or until a person acknowledges it.
//!
//! The record has a file of its own, because the database that it is about is removed.

use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, PathError, read_file, replace_private};
use serde::{Deserialize, Serialize};

use super::clock::now_ms;

/// Name of the file in the state dir.
const NAME: &str = "index_repaired.json";
/// Time for which it is told.
const TOLD_MS: i64 = 86_400_000;

/// What happened.
#[derive(Serialize, Deserialize)]
struct IndexRepair {
    at_ms: i64,
    details: String,
    is_acknowledged: bool,
}

/// Records what happened to the index. A failure is logged: the index is built anyway.
pub(crate) fn note(index_db: &Path, details: &str) {
    let repair = IndexRepair { at_ms: now_ms(), details: details.replace('\n', " "), is_acknowledged: false };
    if let Err(error) = write(index_db, &repair) {
        tracing::warn!(%error, "cannot record that the index was damaged");
    }
}

/// Returns what happened, unless it was long ago or is acknowledged.
pub fn event(index_db: &Path) -> Option<String> {
    read(index_db).map(|repair| repair.details)
}

/// Ends the notice of what happened, and returns what that was.
///
/// # Errors
/// When the record cannot be written; the notice goes on then.
pub fn acknowledge(index_db: &Path) -> Result<Option<String>, PathError> {
    let Some(repair) = read(index_db) else { return Ok(None) };
    let repair = IndexRepair { is_acknowledged: true, ..repair };
    write(index_db, &repair)?;
    Ok(Some(repair.details))
}

fn file(index_db: &Path) -> PathBuf {
    index_db.with_file_name(NAME)
}

fn read(index_db: &Path) -> Option<IndexRepair> {
    let repair: IndexRepair = serde_json::from_slice(&read_file(&file(index_db)).ok()?).ok()?;
    (!repair.is_acknowledged && now_ms() - repair.at_ms < TOLD_MS).then_some(repair)
}

fn write(index_db: &Path, repair: &IndexRepair) -> Result<(), PathError> {
    let file = file(index_db);
    let text = serde_json::to_vec(repair).map_err(std::io::Error::from).at("write", &file)?;
    replace_private(&file, &text)
}
