//! Suggests remedies for failed operations on files.

use std::io;

use super::PathError;

impl PathError {
    /// Returns a hint how to remedy this error; `None` for an error without a known remedy.
    pub fn hint(&self) -> Option<&'static str> {
        io_error_hint(&self.source)
    }
}

/// The hint for a path to which access is denied.
const PERMISSION_DENIED_HINT: &str = match cfg!(windows) {
    true => {
        "check the permissions of that path, and close the program that has it open: Windows does not replace an open file"
    }
    false => "check the owner and the permissions of that path",
};

/// Returns a hint how to remedy a failed operation on a file; `None` for an error without a known remedy.
pub fn io_error_hint(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::PermissionDenied => Some(PERMISSION_DENIED_HINT),
        Kind::StorageFull => Some("free some space on that file system; `df` shows how much is left"),
        Kind::QuotaExceeded => Some("free some space: the quota on that file system is used up"),
        Kind::ReadOnlyFilesystem => Some("mount that file system writable"),
        Kind::StaleNetworkFileHandle => Some("mount that file system again"),
        Kind::TimedOut => Some("check whether the server of that file system can be reached"),
        Kind::OutOfMemory => Some("free some memory"),
        _ => os_hint(error),
    }
}

/// Returns whether opening a file failed because this process or machine has too many open files.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    #[cfg(unix)]
    return matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

#[cfg(unix)]
fn os_hint(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error()? {
        libc::EMFILE => Some("too many files are open: raise `ulimit -n`, then run `memo daemon restart`"),
        libc::ENFILE => Some("too many files are open on this machine: raise `sysctl fs.file-max`"),
        libc::ENOMEM => Some("free some memory, or raise the limit of `ulimit -v`"),
        libc::EIO => Some("check that file system and its disk, and the system log for details"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn os_hint(error: &io::Error) -> Option<&'static str> {
    may_be_in_use(error).then_some("another program has that file open: close the program, or try again")
}

/// Returns whether an operation on a file may have failed because another program has the file open. Windows then reports that
/// access is denied (5), a sharing violation (32) or a lock violation (33).
pub(super) fn may_be_in_use(error: &io::Error) -> bool {
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32 | 33))
}
