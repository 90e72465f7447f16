//! What is a request told that cannot be answered?

use std::io::{self, ErrorKind};

use crate::daemon::event::Ask;
use crate::paths::LocateError;
use crate::proto::{ErrorData, RpcError, code};

/// When who met a lack of descriptors may ask again: requests and reads under way give theirs back.
const RETRY_AFTER_MS: u64 = 100;

pub(super) fn refuse(ask: Ask, error: RpcError) {
    let _ = ask.reply.send(Err(error)); // the asker may have gone
}

/// Returns an error that says all by itself.
pub(super) fn plain(code: i64, message: String) -> RpcError {
    RpcError { code, message, data: None }
}

/// Returns what to say of a directory whose worktree was not found: that there is none, or that it cannot be known now.
pub(super) fn not_located(error: &LocateError) -> RpcError {
    let (code, hint, retry_after_ms) = match error {
        LocateError::Io(error) => of_io(&error.source),
        _ => (code::WRONG_REPOSITORY, None, None),
    };
    let data = hint.map(|hint: &str| ErrorData { hint: Some(hint.to_owned()), retry_after_ms });
    RpcError { code, message: error.to_string(), data }
}

fn of_io(error: &io::Error) -> (i64, Option<&'static str>, Option<u64>) {
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => (code::WRONG_REPOSITORY, None, None),
        ErrorKind::PermissionDenied => {
            (code::IO, Some("check the owner and the permissions of that path"), None)
        }
        _ if is_out_of_descriptors(error) => {
            let hint = "the daemon has no file descriptor left: raise `ulimit -n`, then `memo restart`";
            (code::BUSY, Some(hint), Some(RETRY_AFTER_MS))
        }
        _ => (code::IO, Some("look at that file system; `memo logs` may say more"), None),
    }
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(not(unix))]
fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::paths::PathError;

    #[test]
    fn only_what_is_not_there_is_another_repository() {
        let check = |source: io::Error, code: i64, word: &str| {
            let path = PathBuf::from("/r/.git");
            let error = not_located(&PathError { action: "read", path, source }.into());
            let hint = error.data.and_then(|data| data.hint).unwrap_or_default();
            assert_eq!(error.code, code, "{}", error.message);
            assert!(hint.contains(word), "{}: {hint}", error.message);
        };
        check(ErrorKind::NotFound.into(), code::WRONG_REPOSITORY, "");
        check(ErrorKind::NotADirectory.into(), code::WRONG_REPOSITORY, "");
        check(ErrorKind::PermissionDenied.into(), code::IO, "permissions");
        check(ErrorKind::StaleNetworkFileHandle.into(), code::IO, "file system");
        #[cfg(unix)]
        for os in [libc::EMFILE, libc::ENFILE] {
            check(io::Error::from_raw_os_error(os), code::BUSY, "ulimit -n");
        }
        #[cfg(unix)]
        check(io::Error::from_raw_os_error(libc::EIO), code::IO, "file system");
    }
}
