//! Opens regular files only, so that opening never blocks.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. `follow` decides whether a symbolic link at the end of the path is followed.
///
/// Never blocks, even if a FIFO is in the place of the file.
///
/// # Errors
/// When the file cannot be opened, or is not a regular file ([`io::ErrorKind::InvalidInput`]).
pub fn open_regular(path: &Path, follow: bool) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let no_follow = if follow { 0 } else { libc::O_NOFOLLOW };
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | no_follow);
    }
    #[cfg(not(unix))]
    if !follow && fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link"));
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Reads a regular file; symbolic links are followed.
///
/// # Errors
/// As [`open_regular`], and when reading fails.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, true)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether opening the path may block, because it is neither a file nor a directory. Symbolic links are followed.
pub fn may_block_when_opened(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}
