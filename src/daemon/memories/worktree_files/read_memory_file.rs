//! Reads one file of a shared memory.

use std::path::Path;
use std::{fs, io};

use memod_base::paths::{IoContext as _, PathError};
use memod_base::types::{SourceKey, Stat};
use memod_memory::file;
use memod_memory_db::{MemoriesInFile, MemoryFileSnapshot};

use crate::daemon::memories::memory_files::file_conversion::parse_state;
use crate::daemon::shared::known_files::FileListing;

/// Reads one file, and returns the memories in it or why there is none.
///
/// # Errors
/// When the file exists and cannot be read, so that its content is unknown.
pub(super) fn read_file(
    root: &Path,
    name: &str,
    stat: &Stat,
    listed: &FileListing,
) -> Result<MemoryFileSnapshot, PathError> {
    match file::parse_file_name(name) {
        Ok(_) => {}
        Err(_) if listed.all_names().any(|other| other != name && other.eq_ignore_ascii_case(name)) => {
            let why = "its name differs from that of another file only in upper and lower case";
            return Ok(state_without_memory(name, why.to_owned()));
        }
        Err(refused) => return Ok(state_without_memory(name, refused.to_string())),
    };
    let key = SourceKey::new(format!("{}/{name}", file::DIR));
    let path = key.path_in(root);
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_symlink() => {
            return Ok(state_without_memory(name, "a symbolic link, which is not followed".to_owned()));
        }
        Ok(meta) if !meta.is_file() => {
            return Ok(state_without_memory(name, "not a regular file".to_owned()));
        }
        _ => {}
    }
    let bytes = match memod_scan::read_bytes(root, &key, file::MAX_FILE_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            let why = format!("{} bytes, over {}", stat.size, file::MAX_FILE_BYTES);
            return Ok(state_without_memory(name, why));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(state_without_memory(name, error.to_string()));
        }
        Err(error) => return Err(error).at("read", &path),
    };
    Ok(parse_bytes(name, &bytes, listed))
}

/// Returns the memories in the bytes of a file, or why there is none.
pub(super) fn parse_bytes(name: &str, bytes: &[u8], listed: &FileListing) -> MemoryFileSnapshot {
    let text = file::parse_file_name(name).and_then(|id| Ok((id, file::decode_file(bytes)?)));
    match text {
        Ok((id, text)) => parse_state(name, &id, &text, listed.is_rebasing),
        Err(refused) => state_without_memory(name, refused.to_string()),
    }
}

/// Returns the state of a file that contains no memory.
fn state_without_memory(name: &str, why: String) -> MemoryFileSnapshot {
    let hash = *blake3::hash(why.as_bytes()).as_bytes();
    MemoryFileSnapshot {
        name: name.to_owned(),
        hash,
        memories: MemoriesInFile::NoneBecause(why),
        event: None,
        edited_ms: None,
    }
}
