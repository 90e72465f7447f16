//! Records that index.db was damaged and is rebuilt. The record lasts a day, or until a person acknowledges it.
//!
//! The record has a file of its own, because the damaged database is removed.

use std::path::{Path, PathBuf};

use memod_base::clock::now_ms;
use memod_base::paths::{IoContext as _, PathError, read_file, replace_private};
use serde::{Deserialize, Serialize};

/// Name of the file in the state dir.
const REPAIR_FILE_NAME: &str = "index_repaired.json";
/// Time for which a repair is reported, in milliseconds.
const REPORTED_MS: i64 = 86_400_000;

/// A repair of the index.
#[derive(Serialize, Deserialize)]
struct IndexRepair {
    at_ms: i64,
    details: String,
    is_acknowledged: bool,
}

/// Records a repair of the index. A failure to record is only logged, because the index is built anyway.
pub(crate) fn record_repair(index_db: &Path, details: &str) {
    let repair = IndexRepair { at_ms: now_ms(), details: details.replace('\n', " "), is_acknowledged: false };
    if let Err(error) = write_repair(index_db, &repair) {
        tracing::warn!(%error, "cannot record that the index was damaged");
    }
}

/// Returns the details of the last repair, unless it was long ago or is acknowledged.
pub fn pending_repair_details(index_db: &Path) -> Option<String> {
    read_pending_repair(index_db).map(|repair| repair.details)
}

/// Acknowledges the last repair, and returns its details.
///
/// # Errors
/// When the record cannot be written; the repair is still reported then.
pub fn acknowledge_repair(index_db: &Path) -> Result<Option<String>, PathError> {
    let Some(repair) = read_pending_repair(index_db) else { return Ok(None) };
    let repair = IndexRepair { is_acknowledged: true, ..repair };
    write_repair(index_db, &repair)?;
    Ok(Some(repair.details))
}

fn repair_file_path(index_db: &Path) -> PathBuf {
    index_db.with_file_name(REPAIR_FILE_NAME)
}

fn read_pending_repair(index_db: &Path) -> Option<IndexRepair> {
    let repair: IndexRepair = serde_json::from_slice(&read_file(&repair_file_path(index_db)).ok()?).ok()?;
    (!repair.is_acknowledged && now_ms() - repair.at_ms < REPORTED_MS).then_some(repair)
}

fn write_repair(index_db: &Path, repair: &IndexRepair) -> Result<(), PathError> {
    let file = repair_file_path(index_db);
    let text = serde_json::to_vec(repair).map_err(std::io::Error::from).at("write", &file)?;
    replace_private(&file, &text)
}
