//! Reads one file and checks that it did not change during the read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use memod_base::paths::{PathError, is_transient};
use memod_base::types::{ReadRefusal, SourceKey, Stat};
use memod_text::decode_text;

use super::stat::{FileKind, fstat, lstat};

/// Number of attempts to read a file that keeps changing.
const ATTEMPTS: usize = 3;

/// The content of a file whose signature was the same before and after reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSnapshot {
    /// Signature of the file.
    pub stat: Stat,
    /// BLAKE3 of the file's bytes. For a file that is too big, a hash of that fact and its size, because it is not read.
    pub hash: [u8; 32],
    /// Text of the file, or why it has none.
    pub content: Content,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text, as [`decode_text`] decodes it.
    Text(String),
    /// Not indexed, because it is too big or binary.
    Refused(ReadRefusal),
}

/// Why an admitted file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file, or a directory above it, does not exist any more.
    #[error("{0}: gone")]
    Gone(SourceKey),
    /// A link, a directory or a FIFO has replaced the file, or a directory above it.
    #[error("{0}: no longer a regular file below the root")]
    NotRegular(SourceKey),
    /// The file changed during each attempt. It is being written, so another event will follow.
    #[error("{0}: changes faster than it can be read")]
    Unsettled(SourceKey),
    /// The operating system refuses the read until something changes on disk.
    #[error(transparent)]
    Unreadable(PathError),
    /// The read failed for the moment; the content is unknown.
    #[error(transparent)]
    Transient(PathError),
}

impl ReadError {
    /// Returns the refusal to show in `memo status --skipped`; `None` if the path is not a file any more, or a retry may succeed.
    pub fn refusal(&self) -> Option<ReadRefusal> {
        match self {
            Self::Gone(_) | Self::NotRegular(_) | Self::Transient(_) => None,
            Self::Unsettled(_) | Self::Unreadable(_) => Some(ReadRefusal::Unreadable),
        }
    }
}

/// Reads an admitted file of at most `max_bytes` without following any symbolic link below `root`.
///
/// # Errors
/// When the path is not a regular file, cannot be read, or keeps changing.
pub fn read(root: &Path, key: &SourceKey, max_bytes: u64) -> Result<FileSnapshot, ReadError> {
    for _ in 0..ATTEMPTS {
        if let Some(read) = read_once(root, key, max_bytes)? {
            return Ok(read);
        }
    }
    Err(ReadError::Unsettled(key.clone()))
}

/// Returns the text of a file if its bytes have this hash; `None` if it has changed, is gone or is unreadable.
///
/// # Errors
/// When the read fails for the moment, so that the content is unknown.
pub fn read_if_hash_matches(
    root: &Path,
    key: &SourceKey,
    max_bytes: u64,
    hash: &[u8; 32],
) -> Result<Option<String>, PathError> {
    match read(root, key, max_bytes) {
        Ok(FileSnapshot { content: Content::Text(text), hash: found, .. }) if found == *hash => {
            Ok(Some(text))
        }
        Err(ReadError::Transient(error)) => Err(error),
        _ => Ok(None),
    }
}

/// Returns the bytes of a file, or the target of a symbolic link, as git stores them; `None` if a file has more than `max_bytes`
/// or a target is not UTF-8.
///
/// # Errors
/// When the file is gone or cannot be read.
pub fn read_bytes(root: &Path, key: &SourceKey, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let path = key.path_in(root);
    if path.is_symlink() {
        return Ok(std::fs::read_link(path)?.into_os_string().into_string().ok().map(String::into_bytes));
    }
    let mut file = open_below(root, key)?;
    let size = file.metadata()?.len();
    read_up_to(&mut file, size, max_bytes)
}

/// Reads once; `None` if the file changed during the read.
fn read_once(root: &Path, key: &SourceKey, max_bytes: u64) -> Result<Option<FileSnapshot>, ReadError> {
    let path = key.path_in(root);
    let failed = |source: io::Error| classify_error(source, key, &path);
    let mut file = open_below(root, key).map_err(failed)?;
    let before = fstat(&file).map_err(failed)?;
    if FileKind::from_stat(&before) != FileKind::Regular {
        return Err(ReadError::NotRegular(key.clone()));
    }
    let bytes = read_up_to(&mut file, before.size, max_bytes).map_err(failed)?;
    let after = lstat(&path).map_err(failed)?;
    let whole = bytes.as_ref().is_none_or(|bytes| bytes.len() as u64 == before.size);
    Ok((before == after && whole).then(|| build_snapshot(before, bytes)))
}

/// Reads a file that had `size` bytes; returns `None` if it has more than `max_bytes`.
fn read_up_to(file: &mut File, size: u64, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    if size > max_bytes {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max_bytes).then_some(bytes))
}

/// Returns the content of a file with these bytes; `None` means a file that is too big.
fn build_snapshot(stat: Stat, bytes: Option<Vec<u8>>) -> FileSnapshot {
    let Some(bytes) = bytes else {
        let hash = *blake3::hash(format!("too big: {}", stat.size).as_bytes()).as_bytes();
        return FileSnapshot { stat, hash, content: Content::Refused(ReadRefusal::TooBig) };
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    let content = decode_text(bytes).map_or(Content::Refused(ReadRefusal::Binary), Content::Text);
    FileSnapshot { stat, hash, content }
}

/// Opens a file below `root`, directory by directory, so that no part of its path can be a link, not even one that has just
/// replaced a directory.
#[cfg(unix)]
fn open_below(root: &Path, key: &SourceKey) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let into = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (dirs, name) = key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()));
    let mut dir = open(root, into, Mode::empty())?;
    for part in dirs.split('/').filter(|part| !part.is_empty()) {
        dir = openat(&dir, part, into | OFlags::NOFOLLOW, Mode::empty())?;
    }
    // NONBLOCK: a FIFO in the place of the file must not block.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(&dir, name, flags, Mode::empty())?.into())
}

/// Opens a file below `root`; no part of its path may be a link or a junction.
#[cfg(not(unix))]
fn open_below(root: &Path, key: &SourceKey) -> io::Result<File> {
    let path = key.path_in(root);
    let file = memod_base::paths::open_regular(&path, false)?;
    for dir in path.ancestors().skip(1).take_while(|dir| *dir != root) {
        if std::fs::symlink_metadata(dir)?.is_symlink() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a directory above the file is a link"));
        }
    }
    Ok(file)
}

fn classify_error(error: io::Error, key: &SourceKey, path: &Path) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::Gone(key.clone()),
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
            ReadError::NotRegular(key.clone())
        }
        _ if is_link_or_device(&error) => ReadError::NotRegular(key.clone()),
        _ => {
            let is_transient = is_transient(&error);
            let error = PathError { action: "read", path: path.to_owned(), source: error };
            if is_transient { ReadError::Transient(error) } else { ReadError::Unreadable(error) }
        }
    }
}

/// Returns whether opening failed because the path is a link or a device: with `O_NOFOLLOW` a link gives `ELOOP` (FreeBSD:
/// `EMLINK`), with `O_NONBLOCK` a socket gives `ENXIO`.
fn is_link_or_device(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EMLINK | libc::ENXIO));
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}
