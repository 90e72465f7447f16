//! Detects changes of the user's git settings and ignore file.
//!
//! The files are in the home directory, which is not watched because too much happens there. A few `stat`s per request detect
//! changes. If a file was written less than two seconds before it was recorded, its content is hashed too, until the file is
//! recorded again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memod_base::paths::read_file;

use super::UserDirs;

/// A file written within this time may be written again without a change of its time: the times of file systems have steps
/// of up to 2 s (FAT).
const RACY: Duration = Duration::from_secs(2);

/// The files outside the repository that affect which files git lists, as they were at one moment.
#[derive(Default)]
pub struct UserFilesSnapshot {
    seen: Vec<SeenFile>,
    is_marked_changed: bool,
}

/// A file, existing or not.
struct SeenFile {
    path: PathBuf,
    signature: Signature,
    /// Hash of the content, if a later content might have the same signature.
    content: Option<blake3::Hash>,
}

/// Size, modification time and identity of a file that exists.
type Signature = Option<(u64, Option<SystemTime>, FileIdentity)>;

/// Inode, and its change time in seconds and nanoseconds, to tell apart files of one size and time; zeros on a platform
/// without inodes.
type FileIdentity = (u64, i64, i64);

impl UserFilesSnapshot {
    /// Records the state of the user's settings files and of `files`, existing or not. Call this before reading the files.
    pub fn record(&mut self, dirs: &UserDirs, mut files: BTreeSet<PathBuf>) {
        files.extend(dirs.config_files());
        let now = SystemTime::now();
        self.seen = files.into_iter().map(|path| SeenFile::record(path, now)).collect();
        self.is_marked_changed = false;
    }

    /// Makes the files count as changed until they are recorded again.
    pub fn mark_changed(&mut self) {
        self.is_marked_changed = true;
    }

    /// Returns whether a file was changed, created or removed since the files were recorded.
    pub fn has_changed(&self) -> bool {
        self.is_marked_changed || self.seen.iter().any(SeenFile::has_changed)
    }
}

impl SeenFile {
    /// Records a file as it is now.
    fn record(path: PathBuf, now: SystemTime) -> Self {
        let signature = read_signature(&path);
        let written = signature.and_then(|(_, written, _)| written);
        let is_racy = written.is_some_and(|written| {
            now.duration_since(written).unwrap_or_else(|later| later.duration()) <= RACY
        });
        let content = is_racy.then(|| hash_content(&path));
        Self { path, signature, content }
    }

    fn has_changed(&self) -> bool {
        let now = read_signature(&self.path);
        now != self.signature || self.content.is_some_and(|seen| hash_content(&self.path) != seen)
    }
}

/// Reads the signature of a file; follows symbolic links, as git does here.
fn read_signature(path: &Path) -> Signature {
    fs::metadata(path).ok().map(|meta| (meta.len(), meta.modified().ok(), file_identity(&meta)))
}

#[cfg(unix)]
fn file_identity(meta: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    (meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn file_identity(_: &fs::Metadata) -> FileIdentity {
    (0, 0, 0)
}

/// Hashes the content of a file; a file that cannot be read counts as empty, as it does for git.
fn hash_content(path: &Path) -> blake3::Hash {
    blake3::hash(&read_file(path).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ignore");
        let mut rules = UserFilesSnapshot::default();
        assert!(!rules.has_changed(), "nothing was read from any file yet");
        let record = |rules: &mut UserFilesSnapshot| {
            rules.record(&UserDirs::default(), BTreeSet::from([path.clone()]));
        };
        let age = |ago: Duration| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - ago).unwrap();
        };
        record(&mut rules);
        assert!(!rules.has_changed(), "it does not exist");
        fs::write(&path, "a").unwrap();
        assert!(rules.has_changed(), "it was created");
        record(&mut rules);
        assert!(!rules.has_changed());
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "b").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        assert!(rules.has_changed(), "it was written again at the same time");
        age(RACY * 2);
        record(&mut rules);
        assert!(!rules.has_changed());
        age(RACY * 3);
        assert!(rules.has_changed(), "its time is another");
        record(&mut rules);
        rules.mark_changed();
        assert!(rules.has_changed());
        record(&mut rules);
        fs::remove_file(&path).unwrap();
        assert!(rules.has_changed(), "it was removed");
    }
}
