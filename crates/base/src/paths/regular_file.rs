//! Opens regular files, and nothing that could block.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file if it is regular; `follow` decides whether a final symlink is followed.
///
/// Never blocks on a FIFO in the place of the file.
///
/// # Errors
/// When it cannot be opened, or is not a regular file ([`io::ErrorKind::InvalidInput`]).
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

/// Reads a regular file, through symlinks.
///
/// # Errors
/// As [`open_regular`], and when it cannot be read.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, true)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether something is at the path whose opening may block: neither a file nor a directory. Symlinks are followed.
pub fn may_block(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}
