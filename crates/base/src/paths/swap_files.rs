//! Swaps two files in one step, and moves a file to a name that is free.

use std::fs;
use std::io;
use std::path::Path;

use super::{rename_over, with_suffix};

/// Ending of the name of the former file, with a dot before it, while files are swapped in several steps.
pub const FORMER: &str = ".former";

/// Puts one file in the place of another, and that in the place of the first.
///
/// Linux and macOS do so in one step, where the file system can. Elsewhere the second is moved away first, to its own name with
/// [`FORMER`] and a dot before it; a process that is killed then leaves it there.
///
/// # Errors
/// When one of them is not there, or cannot be renamed; both are then where they were.
pub fn swap_files(one: &Path, other: &Path) -> io::Result<()> {
    match swap_at_once(one, other) {
        Err(error) if cannot_be_done_at_once(&error) => swap_in_steps(one, other),
        swapped => swapped,
    }
}

/// Renames a file to a name that no other has.
///
/// # Errors
/// `AlreadyExists` when one has it; as rename(2) else. The file is then where it was.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match rename_to_free_at_once(from, to) {
        Err(error) if cannot_be_done_at_once(&error) => {}
        renamed => return renamed,
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => rename_over(from, to),
    }
}

/// Returns the path under which [`swap_files`] keeps the former file until it is done.
fn former_path(path: &Path) -> Option<std::path::PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(with_suffix(&path.with_file_name(format!(".{name}")), FORMER))
}

fn swap_in_steps(one: &Path, other: &Path) -> io::Result<()> {
    let former = former_path(other).ok_or(io::ErrorKind::InvalidFilename)?;
    rename_over(other, &former)?;
    // A file that was created there in between is newer than the one that was moved away.
    if let Err(error) = rename_to_free(one, other) {
        if rename_to_free(&former, other).is_err() {
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

/// Returns whether the kernel or the file system has no such call.
fn cannot_be_done_at_once(error: &io::Error) -> bool {
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
        assert_eq!(rename_to_free(&one, &other).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!([&one, &other].map(|path| fs::read_to_string(path).unwrap()), ["1", "2"]);
        rename_to_free(&one, &dir.path().join("third")).unwrap();
        assert!(!one.exists() && dir.path().join("third").exists());
    }
}
