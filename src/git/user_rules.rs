//! Detects changes of the user's git settings and ignore file.
//!
//! The files are in the home directory, which is not watched because too much happens there. A few `stat`s per request
//! detect changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::UserDirs;

/// A file written within this time may be written again without a change of its time: the times of file systems have steps
/// of up to 2 s (FAT).
const RACY: Duration = Duration::from_secs(2);

/// Size and modification time.
type Signature = Option<(u64, Option<SystemTime>)>;

/// The signatures of files outside the repository that affect which files git lists.
#[derive(Default)]
pub struct UserRules {
    seen: Vec<(PathBuf, Signature)>,
    /// Whether the signatures say nothing.
    is_unsure: bool,
}

impl UserRules {
    /// Records the signatures of the user's settings and of these files, existing or not. What is read from them must be
    /// read later.
    pub fn look(&mut self, dirs: &UserDirs, mut files: BTreeSet<PathBuf>) {
        files.extend(dirs.config_files());
        let now = SystemTime::now();
        self.seen = files.into_iter().map(|path| (path.clone(), signature(&path))).collect();
        self.is_unsure = self.seen.iter().any(|(_, seen)| is_racy(seen, now));
    }

    /// Forgets the signatures, so that the files count as changed.
    pub fn forget(&mut self) {
        self.is_unsure = true;
    }

    /// Returns whether a file was or may have been changed, created or removed since.
    pub fn changed(&self) -> bool {
        self.is_unsure || self.seen.iter().any(|(path, seen)| signature(path) != *seen)
    }
}

/// Reads a signature through symbolic links, which git follows here.
fn signature(path: &Path) -> Signature {
    fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok()))
}

fn is_racy(signature: &Signature, now: SystemTime) -> bool {
    let written = signature.and_then(|(_, written)| written);
    let apart = |written| now.duration_since(written).unwrap_or_else(|later| later.duration());
    written.is_some_and(|written| apart(written) <= RACY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ignore");
        let mut rules = UserRules::default();
        assert!(!rules.changed(), "nothing was read from any file yet");
        let look = |rules: &mut UserRules| rules.look(&UserDirs::default(), BTreeSet::from([path.clone()]));
        let age = |ago: Duration| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - ago).unwrap();
        };
        look(&mut rules);
        assert!(!rules.changed(), "it does not exist");
        fs::write(&path, "a").unwrap();
        assert!(rules.changed(), "it was created");
        look(&mut rules);
        assert!(rules.changed(), "it may be written again at the same time");
        age(RACY * 2);
        look(&mut rules);
        assert!(!rules.changed());
        age(RACY * 3);
        assert!(rules.changed(), "its time is another");
        look(&mut rules);
        rules.forget();
        assert!(rules.changed());
        look(&mut rules);
        fs::remove_file(&path).unwrap();
        assert!(rules.changed(), "it was removed");
    }
}
