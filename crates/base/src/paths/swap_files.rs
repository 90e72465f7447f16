//! Swaps two files, and renames a file without overwriting another.

use std::fs;
use std::io;
use std::path::Path;

use super::{rename_over, with_suffix};

/// Suffix of the temporary name that the second file has while two files are swapped in several steps.
pub const FORMER_FILE_SUFFIX: &str = ".former";

/// Swaps two files.
///
/// Linux and macOS do so in one step, where the file system supports it. Elsewhere the file `other` is first renamed to its own
/// name with a dot before it and [`FORMER_FILE_SUFFIX`] after it; a process that is killed then leaves it there.
///
/// # Errors
/// When one of the files does not exist or cannot be renamed; both then have their former names.
pub fn swap_files(one: &Path, other: &Path) -> io::Result<()> {
    match swap_at_once(one, other) {
        Err(error) if is_call_unsupported(&error) => swap_in_steps(one, other),
        swapped => swapped,
    }
}

/// Renames a file, unless another file has the new name.
///
/// # Errors
/// `AlreadyExists` when another file has the new name; otherwise as rename(2). The file then has its former name.
pub fn rename_without_overwrite(from: &Path, to: &Path) -> io::Result<()> {
    match rename_to_free_at_once(from, to) {
        Err(error) if is_call_unsupported(&error) => {}
        renamed => return renamed,
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // The file system has no hard links, so the name is checked before the rename.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => rename_over(from, to),
    }
}

/// Returns the temporary path that [`swap_files`] gives to the file `other`; `None` if its name is not UTF-8.
fn former_path(path: &Path) -> Option<std::path::PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(with_suffix(&path.with_file_name(format!(".{name}")), FORMER_FILE_SUFFIX))
}

fn swap_in_steps(one: &Path, other: &Path) -> io::Result<()> {
    let former = former_path(other).ok_or(io::ErrorKind::InvalidFilename)?;
    rename_over(other, &former)?;
    // If somebody has created a file at `other` meanwhile, that newer file stays, and the former one goes to `one`.
    if let Err(error) = rename_without_overwrite(one, other) {
        if rename_without_overwrite(&former, other).is_err() {
            rename_over(&former, one)?;
            return Ok(());
        }
        return Err(error);
    }
    rename_over(&former, one)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn swap_at_once(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_to_free_at_once(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn swap_at_once(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_to_free_at_once(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns whether the kernel or the file system does not support the call that does it in one step.
fn is_call_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_files() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| dir.path().join(name));
        fs::write(&one, "1").unwrap();
        fs::write(&other, "2").unwrap();
        (dir, one, other)
    }

    #[test]
    fn two_files_change_places() {
        for swap in [swap_files, swap_in_steps] {
            let (dir, one, other) = two_files();
            swap(&one, &other).unwrap();
            assert_eq!([&one, &other].map(|path| fs::read_to_string(path).unwrap()), ["2", "1"]);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
            fs::remove_file(&other).unwrap();
            assert_eq!(swap(&one, &other).unwrap_err().kind(), io::ErrorKind::NotFound);
            assert_eq!(fs::read_to_string(&one).unwrap(), "2");
        }
    }

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let (dir, one, other) = two_files();
        assert_eq!(rename_without_overwrite(&one, &other).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!([&one, &other].map(|path| fs::read_to_string(path).unwrap()), ["1", "2"]);
        rename_without_overwrite(&one, &dir.path().join("third")).unwrap();
        assert!(!one.exists() && dir.path().join("third").exists());
    }
}
