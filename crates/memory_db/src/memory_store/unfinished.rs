//! Removes what is left of a backup elsewhere when the daemon is killed while it writes it.
//!
//! The state dir says which file that is, so that the next daemon finds it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memod_base::paths::create_dir_in;

/// Ending of the name of an unfinished backup.
const ENDING: &str = "part";

/// A backup that is being written; dropping it removes the file under its temporary name.
pub(super) struct Unfinished {
    path: PathBuf,
    record: PathBuf,
}

impl Unfinished {
    /// Records that a backup is going to be written. It gets a name that nobody else gives a file.
    pub(super) fn begin(state_dir: &Path, of: &Path, now_ms: i64) -> Self {
        let path = of.with_added_extension(format!("{}-{now_ms}.{ENDING}", std::process::id()));
        let record = record_in(state_dir);
        let _ = record.parent().map(create_dir_in);
        let _ = fs::write(&record, path.to_string_lossy().as_bytes()); // a full disk is a reason for a backup elsewhere
        Self { path, record }
    }

    /// Returns its temporary name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // one name is enough
        let _ = fs::remove_file(&self.record);
    }
}

/// Removes the unfinished backup that a killed daemon has left outside the state dir.
pub fn remove_unfinished(state_dir: &Path) {
    let record = record_in(state_dir);
    let Ok(written) = fs::read_to_string(&record) else { return };
    let path = Path::new(&written);
    if !path.is_absolute() || path.extension().is_none_or(|ending| ending != ENDING) {
        return;
    }
    match fs::remove_file(path) {
        Ok(()) => {
            tracing::warn!(path = written, "a backup was not completed, and what was left of it is removed");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return tracing::warn!(path = written, %error, "what is left of a backup cannot be removed");
        }
    }
    let _ = fs::remove_file(record);
}

fn record_in(state_dir: &Path) -> PathBuf {
    state_dir.join("backups").join("unfinished")
}
