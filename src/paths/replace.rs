//! Replaces a private file as a whole.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::{IoContext as _, PathError, with_suffix};

/// Replaces one of our files, which only we can read. Whoever reads it meanwhile sees the former content or the new one.
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
    let replaced = written.and_then(|()| fs::rename(&aside, file).at("rename to", file));
    replaced.inspect_err(|_| drop(fs::remove_file(&aside)))
}
