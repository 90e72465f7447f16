//! Distinguishes a slow look at files from one whose file system does not answer.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memod_base::threads::lock;

/// How far one look at files is.
#[derive(Debug, Default)]
pub struct LookProgress(Mutex<Option<(PathBuf, Instant)>>);

impl LookProgress {
    /// Notes what is asked of the file system now.
    pub fn ask(&self, path: &Path) {
        self.set(Some((path.to_owned(), Instant::now())));
    }

    /// Notes that the file system has answered.
    pub fn end(&self) {
        self.set(None);
    }

    /// Returns the path about which nothing was heard for so long, if there is one.
    pub fn unanswered_for(&self, limit: Duration) -> Option<PathBuf> {
        let asked = lock(&self.0);
        let (path, since) = asked.as_ref()?;
        (since.elapsed() >= limit).then(|| path.clone())
    }

    /// Notes that a path was asked for so long ago.
    #[cfg(test)]
    pub(crate) fn ask_since(&self, path: &Path, long: Duration) {
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
        let progress = LookProgress::default();
        assert_eq!(progress.unanswered_for(Duration::ZERO), None, "nothing was asked");
        progress.ask(Path::new("/a"));
        assert_eq!(progress.unanswered_for(Duration::from_secs(60)), None);
        assert_eq!(progress.unanswered_for(Duration::ZERO), Some(PathBuf::from("/a")));
        progress.ask(Path::new("/b"));
        assert_eq!(progress.unanswered_for(Duration::ZERO), Some(PathBuf::from("/b")));
        progress.end();
        assert_eq!(progress.unanswered_for(Duration::ZERO), None);
    }
}
