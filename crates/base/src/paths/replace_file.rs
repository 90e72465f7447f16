//! Replaces a file as a whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{IoContext as _, PathError, io_hint::may_be_in_use, with_suffix};
use crate::threads::pause;

/// Time for which a file that another program has open is tried to be replaced, and the pause between two attempts.
const IN_USE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(20));

/// Replaces one of our files, which only we can read. A reader sees the former content or the new one.
///
/// # Errors
/// When it cannot be written; the former content stays then.
pub fn replace_private(file: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let aside = with_suffix(file, &format!(".{}.new", std::process::id()));
    let _ = fs::remove_file(&aside); // of a process of this number that was killed
    let mut options = fs::File::options();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&aside).and_then(|mut to| to.write_all(bytes)).at("write", &aside);
    let replaced = written.and_then(|()| rename_over(&aside, file).at("rename to", file));
    replaced.inspect_err(|_| drop(fs::remove_file(&aside)))
}

/// Renames a file, in the place of another if there is one.
///
/// Windows refuses while a program has the other open and does not allow it. Mostly that is a virus scanner or an indexer,
/// which is done in a moment.
///
/// # Errors
/// As rename(2); on Windows after a second of attempts.
pub fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    let (at_most, gap) = IN_USE;
    let end = Instant::now() + at_most;
    loop {
        match fs::rename(from, to) {
            Err(error) if may_be_in_use(&error) && Instant::now() < end => pause(gap),
            renamed => return renamed,
        }
    }
}

/// Opens or creates a file that only we can read, with close-on-exec.
///
/// # Errors
/// When it cannot be opened.
pub fn open_private_file(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
#[cfg(windows)]
mod tests {
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::thread;

    use super::*;

    #[test]
    fn a_file_that_another_program_has_open_is_replaced_once_it_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "former").unwrap();
        let alone = || fs::File::options().read(true).share_mode(1).open(&file).unwrap();
        let open = alone();
        let error = replace_private(&file, b"new").unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("open")), "{error}");
        assert_eq!(fs::read(&file).unwrap(), b"former");
        let closing = thread::spawn(move || {
            pause(IN_USE.0 / 4);
            drop(open);
        });
        replace_private(&file, b"new").unwrap();
        closing.join().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }
}
