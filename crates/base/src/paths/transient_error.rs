//! Distinguishes transient errors from permanent ones.

use std::fs;
use std::io;
use std::path::Path;

/// Permanent errors: they depend on the path, and stay until something on the disk is changed.
///
/// | errors | cause |
/// |---|---|
/// | `ENOENT`, `ENOTDIR` | the path does not exist |
/// | `EACCES`, `EPERM`, `EROFS` | permission is denied |
/// | `ELOOP`, `EMLINK`, `ENXIO`, `ENODEV`, `EISDIR` | it is a link, a socket, a device or a directory |
/// | `ENAMETOOLONG`, `EILSEQ`, `EINVAL` | the name is impossible here |
/// | `EOVERFLOW`, `EOPNOTSUPP`, `ENOSYS` | the file system does not support it |
#[cfg(unix)]
const PERMANENT_ERRNOS: [i32; 16] = [
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

/// Returns whether an error does not depend on the path, so that a retry may succeed: a disk or server did not answer (`EIO`,
/// `ESTALE`, `ETIMEDOUT`), descriptors or memory ran out (`EMFILE`, `ENFILE`, `ENOMEM`, `ENOBUFS`), or the call was interrupted
/// (`EINTR`, `EAGAIN`). Callers then assume that the path is unchanged, and retry the operation.
///
/// Unknown errors count as transient, because a useless retry is reported, while a file that is given up is not.
pub fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        return !PERMANENT_ERRNOS.contains(&code);
    }
    // On other platforms, and for errors that no system call returned, only the kind is available.
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

/// Converts the result of a read: returns `None` after a permanent failure, such as a missing file or a denied permission.
///
/// # Errors
/// When the failure is transient; see [`is_transient`].
pub fn none_if_unreadable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if is_transient(&error) => Err(error),
        read => Ok(read.ok()),
    }
}

/// Returns whether a directory is at the path; true also after a transient failure.
pub fn may_be_dir(path: &Path) -> bool {
    none_if_unreadable(fs::metadata(path)).map_or(true, |meta| meta.is_some_and(|meta| meta.is_dir()))
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
