//! Replaces files in one step.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{IoContext as _, PathError, io_hint::may_be_in_use, with_suffix};
use crate::threads::pause;

/// How long the replacement of a file that another program has open is retried, and the pause between two attempts.
const IN_USE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(20));

/// Replaces one of our files, or creates it, with mode 0600. A reader sees either the former content or the new one.
///
/// # Errors
/// When the file cannot be written; its former content stays then.
pub fn replace_private(file: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let aside = with_suffix(file, &format!(".{}.new", std::process::id()));
    let _ = fs::remove_file(&aside); // left by a killed process that had the same id
    let mut options = fs::File::options();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&aside).and_then(|mut to| to.write_all(bytes)).at("write", &aside);
    let replaced = written.and_then(|()| rename_over(&aside, file).at("rename to", file));
    replaced.inspect_err(|_| drop(fs::remove_file(&aside)))
}

/// Renames the file `from` to `to`, and replaces a file that has that name.
///
/// Windows refuses this while another program has the file `to` open. That is mostly a virus scanner or an indexer, which soon
/// closes the file, so the rename is retried.
///
/// # Errors
/// As rename(2); on Windows after one second of attempts.
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

/// Opens a file for reading and writing. A missing file is created with mode 0600.
///
/// # Errors
/// When the file cannot be opened or created.
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
