//! Suggests remedies for failed operations on files.

use std::io;

use super::PathError;

impl PathError {
    /// Returns the remedy, if it is known.
    pub fn hint(&self) -> Option<&'static str> {
        io_hint(&self.source)
    }
}

/// The remedy for a path that may not be used.
const DENIED: &str = match cfg!(windows) {
    true => {
        "check the permissions of that path, and close the program that has it open: Windows does not replace an open file"
    }
    false => "check the owner and the permissions of that path",
};

/// Returns the remedy for a failed operation on a file, if it is known.
pub fn io_hint(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::PermissionDenied => Some(DENIED),
        Kind::StorageFull => Some("free some space on that file system; `df` shows how much is left"),
        Kind::QuotaExceeded => Some("free some space: the quota on that file system is used up"),
        Kind::ReadOnlyFilesystem => Some("mount that file system writable"),
        Kind::StaleNetworkFileHandle => Some("mount that file system again"),
        Kind::TimedOut => Some("check the mounted file system"),
        Kind::OutOfMemory => Some("free some memory"),
        _ => os_hint(error),
    }
}

/// Returns whether opening a file failed because too many are open.
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
        libc::EMFILE => Some("too many files are open: raise `ulimit -n`, then `memo restart`"),
        libc::ENFILE => Some("too many files are open on this machine: raise `sysctl fs.file-max`"),
        libc::ENOMEM => Some("free some memory, or raise its limit (`ulimit -v`)"),
        libc::EIO => Some("check that file system and its disk; the log of the system may say more"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn os_hint(error: &io::Error) -> Option<&'static str> {
    may_be_in_use(error).then_some("another program has it open: end that, or try again")
}

/// Returns whether an operation on a file may have failed because another program has it open: access is denied (5), or it is shared or
/// locked otherwise (32, 33).
pub(super) fn may_be_in_use(error: &io::Error) -> bool {
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32 | 33))
}
