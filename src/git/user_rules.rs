//! Detects changes of the user's git settings and ignore file.
//!
//! They lie in the home directory, which is not watched: too much happens there. A few `stat`s a request tell.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::UserDirs;

type Signature = Option<(u64, Option<SystemTime>)>;

/// The files outside the repository that change what git lists there, as they were last seen.
#[derive(Default)]
pub struct UserRules {
    seen: Vec<(PathBuf, Signature)>,
    is_forgotten: bool,
}

impl UserRules {
    /// Looks at the user's settings, and at these files, existing or not.
    pub fn look(&mut self, dirs: &UserDirs, mut files: BTreeSet<PathBuf>) {
        files.extend(dirs.config_files());
        self.is_forgotten = false;
        self.seen = files.into_iter().map(|path| (path.clone(), signature(&path))).collect();
    }

    /// Forgets them: they count as changed until they are looked at again.
    pub fn forget(&mut self) {
        self.is_forgotten = true;
    }

    /// Returns whether one of them changed, came or went since they were looked at.
    pub fn changed(&self) -> bool {
        self.is_forgotten || self.seen.iter().any(|(path, seen)| signature(path) != *seen)
    }
}

/// Follows links, as git does here.
fn signature(path: &PathBuf) -> Signature {
    fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok()))
}
