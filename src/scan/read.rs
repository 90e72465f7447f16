//! Reads one file and checks that it did not change meanwhile.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::stat::{from_metadata, lstat};
use crate::paths::{PathError, is_transient};
use crate::types::{Refusal, SourceKey, Stat};

/// Where a NUL byte makes a file binary: the first 8 KiB, as git's `buffer_is_binary` has it.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// How often a file that changes while it is read is read again.
const ATTEMPTS: usize = 3;

/// One file, as it was between two equal stats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its signature, the same before and after reading.
    pub stat: Stat,
    /// BLAKE3 of its bytes. Of a file that is too big, which is not read to its end: of that fact and its size.
    pub hash: [u8; 32],
    /// What it holds.
    pub content: Content,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text; what was not UTF-8 became U+FFFD.
    Text(String),
    /// Not to be indexed: too big or binary.
    Refused(Refusal),
}

/// Why an admitted file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It, or a directory above it, is no longer there.
    #[error("{0}: gone")]
    Gone(SourceKey),
    /// Something else is in its place, or in that of a directory above it: a link, a directory, a FIFO.
    #[error("{0}: no longer a regular file below the root")]
    NotRegular(SourceKey),
    /// It changed during each attempt; somebody is writing it, and will be heard of again.
    #[error("{0}: changes faster than it can be read")]
    Unsettled(SourceKey),
    /// The operating system will not let it be read until something changes on the disk.
    #[error(transparent)]
    Unreadable(PathError),
    /// It could not be read this time; nothing is known of it.
    #[error(transparent)]
    Transient(PathError),
}

impl ReadError {
    /// Returns how `memo status --skipped` counts it; none for what is simply no longer a file, or may be read the
    /// next time.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Gone(_) | Self::NotRegular(_) | Self::Transient(_) => None,
            Self::Unsettled(_) | Self::Unreadable(_) => Some(Refusal::Unreadable),
        }
    }
}

/// Reads one admitted file, at most `max_bytes` of it, without following a symbolic link anywhere below `root`.
///
/// # Errors
/// When there is no such regular file, it cannot be read, or it never held still.
pub fn read(root: &Path, key: &SourceKey, max_bytes: u64) -> Result<Read, ReadError> {
    for _ in 0..ATTEMPTS {
        if let Some(read) = read_once(root, key, max_bytes)? {
            return Ok(read);
        }
    }
    Err(ReadError::Unsettled(key.clone()))
}

/// Returns the text of a file if its bytes have this hash; none when it changed, is gone or may not be read.
///
/// # Errors
/// When it cannot be read now, so that nobody knows.
pub fn read_same(
    root: &Path,
    key: &SourceKey,
    max_bytes: u64,
    hash: &[u8; 32],
) -> Result<Option<String>, PathError> {
    match read(root, key, max_bytes) {
        Ok(Read { content: Content::Text(text), hash: found, .. }) if found == *hash => Ok(Some(text)),
        Err(ReadError::Transient(error)) => Err(error),
        _ => Ok(None),
    }
}

/// Returns the bytes of a file, or where a symbolic link leads, as git keeps them; none when there are more than
/// `max_bytes`.
///
/// # Errors
/// When it is gone or cannot be read.
pub fn bytes(root: &Path, key: &SourceKey, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let path = root.join(key.as_str());
    if path.is_symlink() {
        return Ok(std::fs::read_link(path)?.into_os_string().into_string().ok().map(String::into_bytes));
    }
    let mut file = open_below(root, key)?;
    let size = file.metadata()?.len();
    read_up_to(&mut file, size, max_bytes)
}

/// Reads once; `None` when the file changed meanwhile.
fn read_once(root: &Path, key: &SourceKey, max_bytes: u64) -> Result<Option<Read>, ReadError> {
    let path = root.join(key.as_str());
    let failed = |source: io::Error| classify(source, key, &path);
    let mut file = open_below(root, key).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(ReadError::NotRegular(key.clone()));
    }
    let before = from_metadata(&meta);
    let bytes = read_up_to(&mut file, before.size, max_bytes).map_err(failed)?;
    let after = lstat(&path).map_err(failed)?;
    let whole = bytes.as_ref().is_none_or(|bytes| bytes.len() as u64 == before.size);
    Ok((before == after && whole).then(|| judge(before, bytes)))
}

/// Reads a file of `size` bytes; `None` when it holds more than `max_bytes`.
fn read_up_to(file: &mut File, size: u64, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    if size > max_bytes {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max_bytes).then_some(bytes))
}

fn judge(stat: Stat, bytes: Option<Vec<u8>>) -> Read {
    let Some(bytes) = bytes else {
        let hash = *blake3::hash(format!("too big: {}", stat.size).as_bytes()).as_bytes();
        return Read { stat, hash, content: Content::Refused(Refusal::TooBig) };
    };
    let hash = *blake3::hash(&bytes).as_bytes();
    let content = if bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0) {
        Content::Refused(Refusal::Binary)
    } else {
        Content::Text(into_text(bytes))
    };
    Read { stat, hash, content }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Opens directory by directory, so that no component can be a link, not even one swapped in a moment ago.
#[cfg(unix)]
fn open_below(root: &Path, key: &SourceKey) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let into = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (dirs, name) = key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()));
    let mut dir = open(root, into, Mode::empty())?;
    for part in dirs.split('/').filter(|part| !part.is_empty()) {
        dir = openat(&dir, part, into | OFlags::NOFOLLOW, Mode::empty())?;
    }
    // NONBLOCK: a FIFO in the file's place must not hold us until somebody writes to it.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(&dir, name, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_below(root: &Path, key: &SourceKey) -> io::Result<File> {
    super::open_regular(&root.join(key.as_str()), false)
}

fn classify(error: io::Error, key: &SourceKey, path: &Path) -> ReadError {
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

/// `O_NOFOLLOW` on a link gives `ELOOP` (FreeBSD: `EMLINK`), `O_NONBLOCK` on a socket `ENXIO`.
fn is_link_or_device(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EMLINK | libc::ENXIO));
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}
