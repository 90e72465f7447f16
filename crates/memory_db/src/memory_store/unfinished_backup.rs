//! Removes the unfinished backup that a killed daemon left outside the state dir.
//!
//! A file in the state dir records the path of the unfinished backup, so that the next daemon finds it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memod_base::paths::create_dir_without_parents;

/// Ending of the name of an unfinished backup.
const ENDING: &str = "part";

/// A backup that is being written; dropping this value removes the file under its temporary name.
pub(super) struct UnfinishedBackup {
    /// The temporary name.
    path: PathBuf,
    /// The file that records the temporary name.
    record_file: PathBuf,
}

impl UnfinishedBackup {
    /// Records that the backup at `backup` is about to be written, under a unique temporary name.
    pub(super) fn begin_backup(state_dir: &Path, backup: &Path, now_ms: i64) -> Self {
        let path = backup.with_added_extension(format!("{}-{now_ms}.{ENDING}", std::process::id()));
        let record = record_path(state_dir);
        let _ = record.parent().map(create_dir_without_parents);
        // May fail: a full disk is a reason for a backup to another disk.
        let _ = fs::write(&record, path.to_string_lossy().as_bytes());
        Self { path, record_file: record }
    }

    /// Returns the temporary path of the backup.
    pub(super) fn temporary_path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnfinishedBackup {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // the finished backup has another name
        let _ = fs::remove_file(&self.record_file);
    }
}

/// Removes the unfinished backup that a killed daemon left outside the state dir.
pub fn remove_unfinished_backup(state_dir: &Path) {
    let record = record_path(state_dir);
    let Ok(written) = fs::read_to_string(&record) else { return };
    let path = Path::new(&written);
    if !path.is_absolute() || path.extension().is_none_or(|ending| ending != ENDING) {
        return;
    }
    match fs::remove_file(path) {
        Ok(()) => {
            tracing::warn!(path = written, "removed the partial file of a backup that was not completed");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return tracing::warn!(path = written, %error, "cannot remove the partial file of a backup");
        }
    }
    let _ = fs::remove_file(record);
}

/// Returns the path of the file that records the unfinished backup.
fn record_path(state_dir: &Path) -> PathBuf {
    state_dir.join("backups").join("unfinished")
}
