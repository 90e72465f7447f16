//! Which contents were being extracted when the last daemon died?
//!
//! A worker writes the hash of a content into its slot of a small file before extraction and zeroes it
//! afterwards. No fsync: the marks must outlive the process, not the machine.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const SLOT_BYTES: usize = 32;

/// The file of marks.
pub(super) struct Strikes {
    path: PathBuf,
    file: Mutex<File>,
}

impl Strikes {
    /// Opens the file and returns it with the marks of the last run.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<[u8; 32]>)> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        file.set_len(0)?;
        let (slots, _) = bytes.as_chunks::<SLOT_BYTES>();
        let marks = slots.iter().filter(|slot| slot.iter().any(|byte| *byte != 0)).copied().collect();
        Ok((Self { path: path.to_owned(), file: Mutex::new(file) }, marks))
    }

    /// Runs `extract` with the mark of `hash` in `slot`.
    ///
    /// A mark that cannot be written (disk full) is logged, not fatal: it only guards against a crash.
    pub(super) fn around<T>(&self, slot: usize, hash: &[u8; 32], extract: impl FnOnce() -> T) -> T {
        self.write(slot, hash);
        let value = extract();
        self.write(slot, &[0; SLOT_BYTES]);
        value
    }

    fn write(&self, slot: usize, mark: &[u8; SLOT_BYTES]) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let at = SeekFrom::Start((slot * SLOT_BYTES) as u64);
        if let Err(error) = file.seek(at).and_then(|_| file.write_all(mark)) {
            tracing::warn!(path = %self.path.display(), %error, "cannot mark what is being extracted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_only_where_extraction_did_not_end() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("extracting");
        let (strikes, marks) = Strikes::open(&path).unwrap();
        assert!(marks.is_empty());
        strikes.around(0, &[1; 32], || ());
        let (_, marks) = strikes.around(1, &[2; 32], || Strikes::open(&path).unwrap());
        assert_eq!(marks, [[2; 32]]);
    }
}
