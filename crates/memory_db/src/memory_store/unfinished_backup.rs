//! Removes the unfinished backup that a killed daemon left outside the state dir.
//!
//! A file in the state dir records its path, so that the next daemon finds it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memod_base::paths::create_dir_in;

/// Ending of the name of an unfinished backup.
const ENDING: &str = "part";

/// A backup that is being written; dropping it removes the file under its temporary name.
pub(super) struct UnfinishedBackup {
    path: PathBuf,
    record: PathBuf,
}

impl UnfinishedBackup {
    /// Records that a backup is about to be written, under a unique temporary name.
    pub(super) fn begin_backup(state_dir: &Path, backup: &Path, now_ms: i64) -> Self {
        let path = backup.with_added_extension(format!("{}-{now_ms}.{ENDING}", std::process::id()));
        let record = record_in(state_dir);
        let _ = record.parent().map(create_dir_in);
        let _ = fs::write(&record, path.to_string_lossy().as_bytes()); // may fail: a full disk is a reason for a backup elsewhere
        Self { path, record }
    }

    /// Returns its temporary name.
    pub(super) fn temporary_path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnfinishedBackup {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // the finished backup has another name
        let _ = fs::remove_file(&self.record);
    }
}

/// Removes the unfinished backup that a killed daemon left outside the state dir.
pub fn remove_unfinished(state_dir: &Path) {
    let record = record_in(state_dir);
    let Ok(written) = fs::read_to_string(&record) else { return };
    let path = Path::new(&written);
    if !path.is_absolute() || path.extension().is_none_or(|ending| ending != ENDING) {
        return;
    }
    match fs::remove_file(path) {
        Ok(()) => {
            tracing::warn!(path = written, "a backup was not completed; its partial file is removed");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return tracing::warn!(path = written, %error, "the partial file of a backup cannot be removed");
        }
    }
    let _ = fs::remove_file(record);
}

fn record_in(state_dir: &Path) -> PathBuf {
    state_dir.join("backups").join("unfinished")
}
