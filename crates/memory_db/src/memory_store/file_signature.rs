//! Recognises a database file that another process has written or replaced.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use memod_base::paths;
use memod_database::DatabaseError;

/// Signature of the database file after our last access. Of our own accesses, only checkpoints change the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileSignature {
    /// Device and inode of the file; zeros on Windows.
    pub(super) device_and_inode: (u64, u64),
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileSignature {
    /// Returns the signature of the file at `path`; `None` if the file does not exist.
    ///
    /// # Errors
    /// When the file cannot be examined at the moment.
    pub(super) fn read_from(path: &Path) -> Result<Option<Self>, DatabaseError> {
        let meta = paths::none_if_unreadable(fs::symlink_metadata(path));
        let Some(meta) = meta.map_err(|error| DatabaseError::from_io(path, error))? else {
            return Ok(None);
        };
        #[cfg(unix)]
        let file = (std::os::unix::fs::MetadataExt::dev(&meta), std::os::unix::fs::MetadataExt::ino(&meta));
        #[cfg(not(unix))]
        let file = (0, 0);
        Ok(Some(Self { device_and_inode: file, bytes: meta.len(), modified: meta.modified().ok() }))
    }
}
