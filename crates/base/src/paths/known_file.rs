//! Replaces and removes files whose text is known, without losing a version that is saved in between.
//!
//! The file that was in the place gets a name of its own. It is removed if its text is known; otherwise somebody saved it, and
//! the next run that finds it under that name restores it.

use std::fs;
use std::io;
use std::path::Path;

use super::{IoContext as _, PathError, rename_to_free, swap_files};

/// The file in a worktree's git dir that `memo sync-notes` locks while it runs.
pub const NOTES_LOCK: &str = "memod-notes.lock";
/// Ending of the name of a file that `memo sync-notes` writes aside, with a dot before the name: nobody saves it.
pub const NOTES_NEW: &str = ".notes-new";
/// Ending of the name under which it changes places with the file of a memory, after digits of [`text_hash_digits`].
pub const NOTES_OUT: &str = ".notes-out";
/// Hex digits of the hash of the new text in the name under which a file changes places; another text has other digits.
const N_DIGITS: usize = 16;

/// Replaces a file by the one under the name `out`, unless somebody saved it in between: then that version is put back. Returns
/// whether it was replaced.
///
/// # Errors
/// When a file cannot be renamed, read or removed.
pub fn replace_known(
    path: &Path,
    out: &Path,
    is_former: impl Fn(&Path) -> Result<bool, PathError>,
    is_new: impl Fn(&Path) -> Result<bool, PathError>,
) -> Result<bool, PathError> {
    match swap_files(out, path) {
        // It was removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return remove_if_there(out).map(|()| false),
        Err(error) => {
            remove_if_there(out)?; // nothing has come out
            return Err(error).at("swap", path);
        }
        Ok(()) => {}
    }
    if is_former(out)? {
        return remove_if_there(out).map(|()| true);
    }
    swap_files(out, path).at("swap", path)?;
    if is_new(out)? {
        return remove_if_there(out).map(|()| false);
    }
    // It was saved once more: the last version stays, and the run that finds the other one takes that first.
    swap_files(out, path).at("swap", path)?;
    Ok(false)
}

/// Removes a file by way of the name `out`, unless somebody saved it in between: then it is put back. Returns whether it was removed.
///
/// # Errors
/// As [`replace_known`].
pub fn remove_known(
    path: &Path,
    out: &Path,
    is_former: impl Fn(&Path) -> Result<bool, PathError>,
) -> Result<bool, PathError> {
    match rename_to_free(path, out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        renamed => renamed.at("remove", path)?,
    }
    if is_former(out)? {
        return remove_if_there(out).map(|()| true);
    }
    renamed_to_free(rename_to_free(out, path)).at("rename to", path)?; // else it stays, and is found
    Ok(false)
}

/// Removes a file whose text is known: while it stays, its change is not done.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn remove_if_there(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Returns whether a name was free for a file.
///
/// # Errors
/// Any other error of the renaming.
pub fn renamed_to_free(renamed: io::Result<()>) -> io::Result<bool> {
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        renamed => renamed.map(|()| true),
    }
}

/// Returns digits that identify the text that a file is to have: those of its hash, with LF and without a byte order mark.
pub fn text_hash_digits(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    hash_digits(blake3::hash(text.as_bytes()).as_bytes())
}

/// Returns the digits of a text with this hash.
pub fn hash_digits(hash: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*hash).to_hex()[..N_DIGITS].to_owned()
}
