//! Did the user's own settings or ignore file change since they were looked at last?
//!
//! They lie in the home directory, which is not watched: too much happens there. A few `stat`s a request tell.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::{UserDirs, excludes_files};
use crate::paths::Place;

type Signature = Option<(u64, Option<SystemTime>)>;

/// The files outside the repository that change what git lists there, as they were last seen.
pub struct UserRules {
    place: Place,
    dirs: UserDirs,
    seen: Vec<(PathBuf, Signature)>,
}

impl UserRules {
    /// Looks at the files for the first time.
    pub fn new(place: Place, dirs: UserDirs) -> Self {
        let mut rules = Self { place, dirs, seen: Vec::new() };
        rules.seen = rules.look();
        rules
    }

    /// Returns whether one of them changed, came or went since the last call.
    pub fn changed(&mut self) -> bool {
        if self.seen.iter().all(|(path, seen)| signature(path) == *seen) {
            return false;
        }
        self.seen = self.look(); // another ignore file may be the one that counts now
        true
    }

    fn look(&self) -> Vec<(PathBuf, Signature)> {
        let files = self.dirs.config_files().into_iter().chain(excludes_files(&self.place, &self.dirs));
        files.map(|path| (path.clone(), signature(&path))).collect()
    }
}

/// Follows links, as git does here.
fn signature(path: &PathBuf) -> Signature {
    fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok()))
}
