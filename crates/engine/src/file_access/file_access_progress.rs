//! Distinguishes a slow access to files from one whose file system does not answer.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;

/// Records which access to the file system is running, and since when.
#[derive(Debug, Default)]
pub struct FileAccessProgress(Mutex<Option<(PathBuf, Instant)>>);

impl FileAccessProgress {
    /// Records that an access begins.
    pub fn begin_access(&self, path: &Path) {
        self.set(Some((path.to_owned(), Instant::now())));
    }

    /// Records that the file system has answered.
    pub fn end_access(&self) {
        self.set(None);
    }

    /// Returns the path whose access has been running for at least `limit`, if there is one.
    pub fn find_stuck_path(&self, limit: Duration) -> Option<PathBuf> {
        let asked = lock(&self.0);
        let (path, since) = asked.as_ref()?;
        (since.elapsed() >= limit).then(|| path.clone())
    }

    /// Records an access that began the time `long` ago.
    #[cfg(test)]
    pub(crate) fn begin_access_ago(&self, path: &Path, long: Duration) {
        self.set(Instant::now().checked_sub(long).map(|since| (path.to_owned(), since)));
    }

    fn set(&self, asked: Option<(PathBuf, Instant)>) {
        *lock(&self.0) = asked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_not_stuck() {
        let progress = FileAccessProgress::default();
        assert_eq!(progress.find_stuck_path(Duration::ZERO), None, "nothing was asked");
        progress.begin_access(Path::new("/a"));
        assert_eq!(progress.find_stuck_path(Duration::from_secs(60)), None);
        assert_eq!(progress.find_stuck_path(Duration::ZERO), Some(PathBuf::from("/a")));
        progress.begin_access(Path::new("/b"));
        assert_eq!(progress.find_stuck_path(Duration::ZERO), Some(PathBuf::from("/b")));
        progress.end_access();
        assert_eq!(progress.find_stuck_path(Duration::ZERO), None);
    }
}
