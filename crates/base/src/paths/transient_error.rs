//! Distinguishes transient errors from permanent ones.

use std::fs;
use std::io;
use std::path::Path;

/// Permanent errors, which depend on the path and stay until the disk changes.
///
/// | errors | cause |
/// |---|---|
/// | `ENOENT`, `ENOTDIR` | the path does not exist |
/// | `EACCES`, `EPERM`, `EROFS` | permission is denied |
/// | `ELOOP`, `EMLINK`, `ENXIO`, `ENODEV`, `EISDIR` | it is a link, a socket, a device or a directory |
/// | `ENAMETOOLONG`, `EILSEQ`, `EINVAL` | the name is impossible here |
/// | `EOVERFLOW`, `EOPNOTSUPP`, `ENOSYS` | the file system does not support it |
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

/// Returns whether an error is independent of the path: a disk or server did not answer (`EIO`, `ESTALE`, `ETIMEDOUT`),
/// descriptors or memory ran out (`EMFILE`, `ENFILE`, `ENOMEM`, `ENOBUFS`), or the call was interrupted (`EINTR`,
/// `EAGAIN`). The known state of the path stays, and the operation is tried again.
///
/// Unknown errors count as transient, because a retry in vain is reported, while giving up is not.
pub fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    #[cfg(unix)]
    if let Some(code) = error.raw_os_error() {
        return !LASTING.contains(&code);
    }
    // On other platforms, and if no system call failed, only the kind is available.
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

/// Returns the value of a read; `None` if the file does not exist or is not readable.
///
/// # Errors
/// When the failure is transient.
pub fn if_readable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if is_transient(&error) => Err(error),
        read => Ok(read.ok()),
    }
}

/// Returns false only if certainly no directory is at the path.
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
