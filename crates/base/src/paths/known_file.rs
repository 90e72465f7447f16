//! Replaces and removes files whose text is known, without losing a version that somebody saves meanwhile.
//!
//! The former file is first renamed, then read. If its text is the known one, it is removed. Otherwise somebody has saved the file
//! meanwhile, and it is renamed back. A later run restores a file that an interrupted run has left under the other name.

use std::fs;
use std::io;
use std::path::Path;

use super::{IoContext as _, PathError, rename_without_overwrite, swap_files};

/// Name of the file in a worktree's git dir that `memo share sync` locks while it runs.
pub const NOTES_LOCK_FILE_NAME: &str = "memod-notes.lock";
/// Suffix of the temporary files that `memo share sync` writes; their names begin with a dot.
pub const NOTES_NEW_SUFFIX: &str = ".notes-new";
/// Suffix of the name that a temporary file has when it is swapped with the file of a memory, after the digits of
/// [`text_hash_prefix`].
pub const NOTES_SWAP_SUFFIX: &str = ".notes-out";
/// Number of hex digits of the hash of the new text in the name of such a file, so that each text has its own name.
const N_HASH_DIGITS: usize = 16;

/// Replaces the file at `path` by the file at `out`. If `is_former` shows that somebody has saved `path` meanwhile, the saved
/// version is put back. Returns whether `path` was replaced.
///
/// # Errors
/// When a file cannot be renamed, read or removed.
pub fn replace_unless_saved(
    path: &Path,
    out: &Path,
    is_former: impl Fn(&Path) -> Result<bool, PathError>,
    is_new: impl Fn(&Path) -> Result<bool, PathError>,
) -> Result<bool, PathError> {
    match swap_files(out, path) {
        // Somebody removed the file at `path`.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return remove_if_exists(out).map(|()| false);
        }
        Err(error) => {
            remove_if_exists(out)?; // the swap failed, so `out` still has our new text
            return Err(error).at("swap", path);
        }
        Ok(()) => {}
    }
    if is_former(out)? {
        return remove_if_exists(out).map(|()| true);
    }
    swap_files(out, path).at("swap", path)?;
    if is_new(out)? {
        return remove_if_exists(out).map(|()| false);
    }
    // Somebody saved the file a second time. The last version stays at `path`; a later run handles the other one at `out`.
    swap_files(out, path).at("swap", path)?;
    Ok(false)
}

/// Renames the file at `path` to `out` and removes it there. If `is_former` shows that somebody has saved the file meanwhile, it
/// is renamed back. Returns whether the file was removed or did not exist.
///
/// # Errors
/// As [`replace_unless_saved`].
pub fn remove_unless_saved(
    path: &Path,
    out: &Path,
    is_former: impl Fn(&Path) -> Result<bool, PathError>,
) -> Result<bool, PathError> {
    match rename_without_overwrite(path, out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        renamed => renamed.at("remove", path)?,
    }
    if is_former(out)? {
        return remove_if_exists(out).map(|()| true);
    }
    // If `path` is taken, the file stays at `out` for a later run.
    was_renamed(rename_without_overwrite(out, path)).at("rename to", path)?;
    Ok(false)
}

/// Removes a file; does nothing if the file does not exist.
///
/// # Errors
/// When the file exists and cannot be removed.
pub fn remove_if_exists(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Converts the result of [`rename_without_overwrite`]: returns true if the file was renamed, false if the name was taken.
///
/// # Errors
/// Any error but `AlreadyExists`.
pub fn was_renamed(renamed: io::Result<()>) -> io::Result<bool> {
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

/// Returns hex digits of the hash of a text, which is hashed with LF line ends and without a byte order mark.
pub fn text_hash_prefix(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    hash_prefix(blake3::hash(text.as_bytes()).as_bytes())
}

/// Returns the first hex digits of a hash, as [`text_hash_prefix`] returns them.
pub fn hash_prefix(hash: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*hash).to_hex()[..N_HASH_DIGITS].to_owned()
}
