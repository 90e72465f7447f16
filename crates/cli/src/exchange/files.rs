//! Reads files that the user named, with limits.

use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, canonical};

use super::lines;
use crate::error::CliError;

/// Returns whether a file starts with the header of SQLite.
pub(super) fn is_database(path: &Path) -> bool {
    begins_with(path, b"SQLite format 3\0")
}

/// Opens only regular files: reading anything else may block on another process.
pub(super) fn begins_with(path: &Path, magic: &[u8]) -> bool {
    use std::io::Read as _;
    let mut start = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let mut read = || std::fs::File::open(path)?.take(magic.len() as u64).read_to_end(&mut start);
    is_file && read().is_ok() && start == magic
}

/// Returns the canonical path, as it is used in keys.
pub(super) fn absolute(path: &Path) -> Result<String, CliError> {
    let absolute = canonical(path)?;
    absolute.into_os_string().into_string().map_err(|path| CliError::NotUtf8(PathBuf::from(path)))
}

/// Reads a whole file of at most `most` bytes of UTF-8.
pub(super) fn text_of(path: &Path, most_bytes: u64) -> Result<String, CliError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).at("open", path)?;
    file.take(most_bytes + 1).read_to_end(&mut bytes).at("read", path)?;
    let refuse = |why: String, hint| CliError::Usage { message: format!("{}: {why}", path.display()), hint };
    if bytes.len() as u64 > most_bytes {
        return Err(refuse(format!("over {} MiB", most_bytes >> 20), "import it in parts"));
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(refuse("a zip file".to_owned(), "unpack it, and import what is in it"));
    }
    if bytes.starts_with(lines::BOM) {
        bytes.drain(..lines::BOM.len());
    }
    String::from_utf8(bytes).map_err(|_| refuse("not UTF-8".to_owned(), "the file must be a text"))
}
