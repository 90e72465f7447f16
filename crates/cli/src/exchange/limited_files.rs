//! Reads files that the user named, with limits.

use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, canonicalize_path};
use memod_terminal::CliError;

use super::limited_lines::BOM;

/// Returns whether a file is a database of SQLite, by its header.
pub(super) fn is_database(path: &Path) -> bool {
    has_magic(path, b"SQLite format 3\0")
}

/// Returns whether a file starts with these bytes. Opens only regular files: reading anything else may block on another process.
pub(super) fn has_magic(path: &Path, magic: &[u8]) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file && read_start(path, magic.len() as u64).is_ok_and(|start| start == magic)
}

fn read_start(path: &Path, n_bytes: u64) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(n_bytes).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns the canonical path as a string, as it is in requests and in the keys of sources.
pub(super) fn canonical_string(path: &Path) -> Result<String, CliError> {
    let absolute = canonicalize_path(path)?;
    absolute.into_os_string().into_string().map_err(|path| CliError::NotUtf8(PathBuf::from(path)))
}

/// Reads a whole file, and returns its text without a byte order mark.
///
/// # Errors
/// When the file cannot be read, is larger than `max_bytes`, is a zip file, or is not UTF-8.
pub(super) fn read_text_file(path: &Path, max_bytes: u64) -> Result<String, CliError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).at("open", path)?;
    file.take(max_bytes + 1).read_to_end(&mut bytes).at("read", path)?;
    if bytes.len() as u64 > max_bytes {
        return Err(file_refused_error(path, &format!("over {} MiB", max_bytes >> 20), "split the file"));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(file_refused_error(path, "a zip file", "unpack the file, and import what is in it"));
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    String::from_utf8(bytes)
        .map_err(|_| file_refused_error(path, "not UTF-8", "the file must be a text in UTF-8"))
}

fn file_refused_error(path: &Path, why: &str, hint: &'static str) -> CliError {
    CliError::Usage { message: format!("{}: {why}", path.display()), hint }
}
