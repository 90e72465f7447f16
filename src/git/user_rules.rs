//! Detects changes of the user's git settings and ignore file.
//!
//! The files are in the home directory, which is not watched because too much happens there. A few `stat`s per request
//! detect changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::UserDirs;

type Signature = Option<(u64, Option<SystemTime>)>;

/// The signatures of files outside the repository that affect which files git lists.
#[derive(Default)]
pub struct UserRules {
    seen: Vec<(PathBuf, Signature)>,
    is_forgotten: bool,
}

impl UserRules {
    /// Records the signatures of the user's settings and of these files, existing or not.
    pub fn look(&mut self, dirs: &UserDirs, mut files: BTreeSet<PathBuf>) {
        files.extend(dirs.config_files());
        self.is_forgotten = false;
        self.seen = files.into_iter().map(|path| (path.clone(), signature(&path))).collect();
    }

    /// Forgets the signatures, so that the files count as changed.
    pub fn forget(&mut self) {
        self.is_forgotten = true;
    }

    /// Returns whether a file was changed, created or removed since.
    pub fn changed(&self) -> bool {
        self.is_forgotten || self.seen.iter().any(|(path, seen)| signature(path) != *seen)
    }
}

/// Reads a signature through symbolic links, which git follows here.
fn signature(path: &PathBuf) -> Signature {
    fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok()))
}
