//! Tells errors of the moment from lasting ones.

use std::fs;
use std::io;
use std::path::Path;

/// Errors that say something lasting of the path itself; it takes a change on the disk to get another answer.
///
/// | errors | what is so |
/// |---|---|
/// | `ENOENT`, `ENOTDIR` | nothing is there |
/// | `EACCES`, `EPERM`, `EROFS` | we may not |
/// | `ELOOP`, `EMLINK`, `ENXIO`, `ENODEV`, `EISDIR` | it is a link, a socket, a device, a directory |
/// | `ENAMETOOLONG`, `EILSEQ`, `EINVAL` | nothing can have that name here |
/// | `EOVERFLOW`, `EOPNOTSUPP`, `ENOSYS` | this file system cannot |
#[cfg(unix)]
const LASTING: [i32; 16] = [
    libc::ENOENT,
    libc::ENOTDIR,
    libc::EACCES,
    libc::EPERM,
    libc::EROFS,
    libc::ELOOP,
    libc::EMLINK,
    libc::ENXIO,
    libc::ENODEV,
    libc::EISDIR,
    libc::ENAMETOOLONG,
    libc::EILSEQ,
    libc::EINVAL,
    libc::EOVERFLOW,
    libc::EOPNOTSUPP,
    libc::ENOSYS,
];

/// Returns whether an error says nothing of the path it was met on, only of this moment: a disk or a server that did not
/// answer (`EIO`, `ESTALE`, `ETIMEDOUT`), too few descriptors or too little memory (`EMFILE`, `ENFILE`, `ENOMEM`,
/// `ENOBUFS`), an interruption (`EINTR`, `EAGAIN`). What is known of the path stays, and it is tried again.
///
/// An error that is in no table counts as one of these: what is tried in vain is told of, what is given up is not.
pub fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        return !LASTING.contains(&code);
    }
    // Elsewhere, and where no system call failed, the kind is all there is.
    !matches!(
        error.kind(),
        Kind::NotFound
            | Kind::NotADirectory
            | Kind::IsADirectory
            | Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::InvalidInput
            | Kind::InvalidData
            | Kind::InvalidFilename
            | Kind::TooManyLinks
            | Kind::Unsupported
    )
}

/// Returns what was read; none where there is nothing to be read, or not by us.
///
/// # Errors
/// When it may be read another time: nothing is known of it now.
pub fn if_readable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if is_transient(&error) => Err(error),
        read => Ok(read.ok()),
    }
}

/// Returns false only where it is known that no directory is at the path.
pub fn may_be_dir(path: &Path) -> bool {
    if_readable(fs::metadata(path)).map_or(true, |meta| meta.is_some_and(|meta| meta.is_dir()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_must_change_for_is_lasting() {
        let check = |codes: &[i32], expected: bool| {
            for code in codes {
                let error = io::Error::from_raw_os_error(*code);
                assert_eq!(is_transient(&error), expected, "{error}");
            }
        };
        check(&[libc::EIO, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EINTR, libc::EAGAIN], true);
        check(&[libc::ENOBUFS, libc::ESTALE, libc::ETIMEDOUT, libc::ENOTCONN, libc::EHOSTDOWN], true);
        check(&[libc::ENOENT, libc::ENOTDIR, libc::EACCES, libc::EPERM, libc::ELOOP], false);
        check(&[libc::ENAMETOOLONG, libc::EISDIR, libc::ENXIO, libc::EINVAL], false);
        assert!(!is_transient(&io::ErrorKind::NotADirectory.into()));
        assert!(is_transient(&io::Error::other("nobody knows")));
    }
}
