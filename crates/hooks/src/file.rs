//! Reads, creates, replaces and removes hook files and git's configuration.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, PathError, rename_over};

/// Reads a regular file; `None` if nothing is at the path. Links are not followed.
///
/// # Errors
/// When the file cannot be read, or is not a regular file.
pub(super) fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, PathError> {
    match fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error).at("look at", path),
        Ok(meta) if meta.is_symlink() => {
            Err(io::Error::other("a symbolic link, not a regular file")).at("use", path)
        }
        Ok(meta) if !meta.is_file() => Err(io::Error::other("not a regular file")).at("use", path),
        Ok(_) => fs::read(path).at("read", path).map(Some),
    }
}

/// Returns whether git would run a hook: whether the file is executable or, on Windows, exists.
pub(super) fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    return path.exists();
}

/// Creates a file with mode 0755, so that everybody who can commit here may execute it.
///
/// # Errors
/// When something exists at the path, or the file cannot be written. Nothing is changed then.
pub(super) fn create_executable(path: &Path, text: &[u8]) -> Result<(), PathError> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).at("create directory", dir)?;
    let aside = temp_path(path);
    let made = write_temp_file(&aside, text, executable_mode()).and_then(|()| link_or_rename(&aside, path));
    let _ = fs::remove_file(&aside);
    made.at("create", path)
}

/// Replaces the text of a file whose text must still be `before`; the mode of the file stays.
///
/// Git's lock `<path>.lock` is checked but not taken, because a crash would leave the lock behind. So a change by git is lost
/// only if git takes the lock, writes and releases the lock between the last check and the rename.
///
/// # Errors
/// When the text has changed, git has locked the file, or the file cannot be written. The file is unchanged then.
pub(super) fn replace_text(path: &Path, before: &[u8], text: &[u8]) -> Result<(), PathError> {
    let mode = fs::metadata(path).at("look at", path)?.permissions();
    let aside = temp_path(path);
    let replaced = write_temp_file(&aside, text, Some(mode)).and_then(|()| {
        if fs::read(path)? != before || is_locked_by_git(path) {
            return Err(io::Error::other("another program has changed the file meanwhile; try again"));
        }
        rename_over(&aside, path)
    });
    replaced.inspect_err(|_| drop(fs::remove_file(&aside))).at("write", path)
}

/// Returns the path of the lock that git takes before it changes a file.
pub(super) fn lock_path(path: &Path) -> PathBuf {
    path.with_added_extension("lock")
}

/// Returns whether git has locked a file, because it is changing the file or was interrupted while it did.
pub(super) fn is_locked_by_git(path: &Path) -> bool {
    fs::symlink_metadata(lock_path(path)).is_ok()
}

/// Removes a file; does nothing if the file does not exist.
///
/// # Errors
/// When the file cannot be removed.
pub(super) fn remove_file(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Gives a file another name, which must be free. Uses a hard link, because a rename would replace a file that was created
/// meanwhile; only if the file system has no hard links, the file is renamed.
fn link_or_rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.exists() => fs::rename(from, to),
        linked => linked,
    }
}

/// Writes a temporary file and flushes it to the disk. Replaces one that an interrupted process with the same pid has left.
fn write_temp_file(path: &Path, text: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut file = File::create_new(path)?;
    file.write_all(text)?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

fn executable_mode() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    #[cfg(not(unix))]
    return None;
}

/// Returns a temporary path next to `path`, with a name that neither git nor another tool takes for a hook.
fn temp_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".memo-{}", std::process::id()));
    path.with_file_name(name)
}
