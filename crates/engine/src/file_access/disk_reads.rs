//! Reads the files that an answer needs, and leaves out those whose file system does not answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use memod_base::paths::PathError;
use memod_base::threads::lock;
use memod_base::types::{SourceKey, Stat};
use memod_scan::{FileSnapshot, ReadError};

use super::file_access_progress::FileAccessProgress;
use super::gates::Gates;

/// Longest wait for one answer of a file system.
pub const FILE_SYSTEM_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval between two checks that a file system answers.
pub const FILE_SYSTEM_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The files that one attempt at an answer reads.
#[derive(Debug, Default)]
pub struct DiskReads {
    progress: FileAccessProgress,
    /// Paths whose file system did not answer when the attempt began: files, or directories with everything below them.
    avoided: Vec<PathBuf>,
    /// The first avoided path that a read needed.
    missed: Mutex<Option<PathBuf>>,
}

impl DiskReads {
    /// Returns the text of a file if its bytes have this hash, like [`memod_scan::read_if_unchanged`]; `None` also if the file
    /// cannot be read or its file system does not answer.
    pub fn read_if_unchanged(
        &self,
        root: &Path,
        key: &SourceKey,
        max_bytes: u64,
        hash: &[u8; 32],
    ) -> Option<String> {
        self.run_tracked(&key.path_in(root), || {
            memod_scan::read_if_hash_matches(root, key, max_bytes, hash).ok().flatten()
        })?
    }

    /// Reads a file, like [`memod_scan::read`].
    ///
    /// # Errors
    /// When it cannot be read, or its file system does not answer.
    pub fn read(&self, root: &Path, key: &SourceKey, max_bytes: u64) -> Result<FileSnapshot, ReadError> {
        let path = key.path_in(root);
        self.run_tracked(&path, || memod_scan::read(root, key, max_bytes)).unwrap_or_else(|| {
            let source = io::ErrorKind::TimedOut.into();
            Err(ReadError::Transient(PathError { action: "read", path: path.clone(), source }))
        })
    }

    /// Reads a file as git stores it, like [`memod_scan::read_bytes`].
    ///
    /// # Errors
    /// When it cannot be read, or its file system does not answer.
    pub fn read_bytes(&self, root: &Path, key: &SourceKey, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let read = self.run_tracked(&key.path_in(root), || memod_scan::read_bytes(root, key, max_bytes));
        read.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Returns the signature of a path.
    ///
    /// # Errors
    /// When it is not there, or its file system does not answer.
    pub fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.run_tracked(path, || memod_scan::lstat(path))
            .unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Returns whether a path is left out, because its file system did not answer when the attempt began.
    pub fn is_avoided(&self, path: &Path) -> bool {
        self.avoided.iter().any(|place| path.starts_with(place))
    }

    /// Returns the path whose file system has not answered for at least `long`, if there is one.
    pub fn find_stuck_path(&self, long: Duration) -> Option<PathBuf> {
        self.progress.find_stuck_path(long)
    }

    /// Returns the first path that a read needed but that was left out; a directory if all below it is left out.
    pub fn first_missed(&self) -> Option<PathBuf> {
        lock(&self.missed).clone()
    }

    /// Runs an access to a path and records its progress; returns `None` without running it if the path is left out.
    fn run_tracked<T>(&self, path: &Path, look: impl FnOnce() -> T) -> Option<T> {
        if let Some(place) = self.avoided.iter().find(|place| path.starts_with(place)) {
            lock(&self.missed).get_or_insert_with(|| place.clone());
            return None;
        }
        self.progress.begin_access(path);
        let found = look();
        self.progress.end_access();
        Some(found)
    }
}

/// The reads of all running attempts, abandoned ones included.
#[derive(Default)]
pub struct RunningReads(Mutex<Vec<Weak<DiskReads>>>);

impl RunningReads {
    /// Begins an attempt at an answer. It leaves out the paths on which other attempts hang, where its thread would hang, too.
    pub fn begin_attempt(&self, root: &Path, gates: &Gates) -> Arc<DiskReads> {
        let mut running = lock(&self.0);
        running.retain(|reads| reads.strong_count() > 0);
        let stuck = running
            .iter()
            .filter_map(Weak::upgrade)
            .filter_map(|reads| reads.find_stuck_path(FILE_SYSTEM_TIMEOUT));
        let avoided = stuck.map(|path| find_hanging_dir(&path, root, gates)).collect();
        let reads = Arc::new(DiskReads { avoided, ..DiskReads::default() });
        running.push(Arc::downgrade(&reads));
        reads
    }
}

/// Returns the message that the content of a path is unknown because its file system has not answered.
pub fn stuck_path_message(place: &Path) -> String {
    format!("{}: its file system has not answered yet", place.display())
}

/// Returns the directory that most likely hangs with a path: its mount point if that is below the root of the worktree, else
/// the directory of the path.
fn find_hanging_dir(path: &Path, root: &Path, gates: &Gates) -> PathBuf {
    let mount = gates.find_mount_point(path);
    let dir = path.parent().filter(|dir| is_below(dir, root)).unwrap_or(path);
    if is_below(&mount, root) && mount != path { mount } else { dir.to_owned() } // on Windows each path is its own mount
}

fn is_below(path: &Path, root: &Path) -> bool {
    path != root && path.starts_with(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_left_out_of_the_next_attempt() {
        let root = tempfile::tempdir().unwrap();
        let [near, far] = ["near", "far"].map(|dir| root.path().join(dir).join("a"));
        for path in [&near, &far] {
            std::fs::create_dir(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let (running, gates) = (RunningReads::default(), Gates::default());
        let first = running.begin_attempt(root.path(), &gates);
        first.progress.begin_access_ago(&far, FILE_SYSTEM_TIMEOUT);
        assert_eq!(first.find_stuck_path(FILE_SYSTEM_TIMEOUT).as_ref(), Some(&far));
        let second = running.begin_attempt(root.path(), &gates);
        assert!(second.lstat(&near).is_ok() && second.first_missed().is_none());
        assert_eq!(second.lstat(&far).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(second.first_missed().as_deref(), far.parent());
        drop(first);
        assert!(running.begin_attempt(root.path(), &gates).lstat(&far).is_ok(), "it has answered");
    }
}
