//! Builds the errors that many methods return, and finds hints for errors.

use std::path::Path;

use memod_base::paths::RepoLayout;
use memod_engine::errors;
use memod_proto::{METHODS, RpcError, code};

use crate::daemon::process::descriptors::DescriptorLimitTooLow;
use crate::daemon::process::memory_limit::MemoryLimitTooLow;

/// Returns the error for params that a method does not accept.
pub(in crate::daemon) fn bad_params_error(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

/// Returns the error for a directory in another repository than that of this daemon.
pub(in crate::daemon) fn wrong_repository_error(cwd: &Path, ours: &RepoLayout) -> RpcError {
    let (cwd, ours) = (cwd.display(), ours.common_dir.as_ref().unwrap_or(&ours.root).display());
    let message = format!("{cwd}: belongs to another repository than this daemon's, {ours}");
    RpcError::new(code::WRONG_REPOSITORY, message)
}

/// Returns the error for a method that does not exist, with all that do.
pub(in crate::daemon) fn unknown_method_error(method: &str) -> RpcError {
    let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    let hint = format!("methods: {}", names.join(", "));
    RpcError::new(code::NO_METHOD, format!("{method}: no such method")).with_hint(hint)
}

/// Returns what the user can do about an error, if that is known for one of its causes.
pub fn find_hint(error: &anyhow::Error) -> Option<&'static str> {
    let limit = error.chain().find_map(|cause| {
        let memory = cause.downcast_ref().map(MemoryLimitTooLow::hint);
        memory.or_else(|| cause.downcast_ref().map(DescriptorLimitTooLow::hint))
    });
    limit.or_else(|| errors::find_hint(error))
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};
    use std::path::PathBuf;

    use memod_base::paths::{LocateError, PathError};
    #[cfg(unix)]
    use memod_database::DatabaseError;
    #[cfg(unix)]
    use memod_git::GitError;
    #[cfg(unix)]
    use memod_hooks::HooksError;
    #[cfg(unix)]
    use memod_indexing::IndexError;
    #[cfg(unix)]
    use memod_watch::WatchError;

    use super::*;

    #[cfg(unix)]
    fn os(code: i32) -> io::Error {
        io::Error::from_raw_os_error(code)
    }

    fn path_error(source: io::Error) -> PathError {
        PathError { action: "read", path: PathBuf::from("/r/.git"), source }
    }

    #[cfg(unix)]
    fn sqlite(code: i32) -> DatabaseError {
        let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        DatabaseError::Sqlite { path: PathBuf::from("/r/index.db"), source }
    }

    #[test]
    fn only_what_is_not_there_is_another_repository() {
        let check = |source: io::Error, code: i64| {
            let error = RpcError::from(LocateError::from(path_error(source)));
            assert_eq!(error.code, code, "{}", error.message);
        };
        check(ErrorKind::NotFound.into(), code::WRONG_REPOSITORY);
        check(ErrorKind::NotADirectory.into(), code::WRONG_REPOSITORY);
        check(ErrorKind::PermissionDenied.into(), code::IO);
        check(ErrorKind::StaleNetworkFileHandle.into(), code::IO);
        #[cfg(unix)]
        for (errno, code) in [(libc::EMFILE, code::BUSY), (libc::ENFILE, code::BUSY), (libc::EIO, code::IO)] {
            check(os(errno), code);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_remedy_names_the_cause_at_hand() {
        const WORDS: [&str; 9] = [
            "permissions",
            "some space",
            "writable",
            "ulimit -n",
            "fs.file-max",
            "max_user_watches",
            "max_user_instances",
            "disk, and the system log",
            "another program",
        ];
        // The remedy has the words of this case and of no other.
        let check = |what: &str, hint: Option<&str>, expected: &[&str]| {
            let hint = hint.unwrap_or_default();
            let found: Vec<_> = WORDS.into_iter().filter(|word| hint.contains(word)).collect();
            assert_eq!(found, expected, "{what}: {hint}");
        };
        let causes: [(i32, &[&str]); 8] = [
            (libc::EACCES, &["permissions"]),
            (libc::EPERM, &["permissions"]),
            (libc::ENOSPC, &["some space"]),
            (libc::EDQUOT, &["some space"]),
            (libc::EROFS, &["writable"]),
            (libc::EMFILE, &["ulimit -n"]),
            (libc::ENFILE, &["fs.file-max"]),
            (libc::EIO, &["disk, and the system log"]),
        ];
        for (errno, expected) in causes {
            let file = || path_error(os(errno));
            let path = || PathBuf::from("/r/d");
            let of = |error: RpcError| error.data.and_then(|data| data.hint);
            check("path", file().hint(), expected);
            check("place", of(LocateError::from(file()).into()).as_deref(), expected);
            check("git", of(GitError::from(file()).into()).as_deref(), expected);
            check("hooks", of(HooksError::from(file()).into()).as_deref(), expected);
            check(
                "store",
                of(DatabaseError::File { path: path(), source: os(errno) }.into()).as_deref(),
                expected,
            );
            check("start", find_hint(&anyhow::Error::from(file()).context("start")), expected);
            check("bind", find_hint(&anyhow::Error::from(os(errno)).context("bind")), expected);
            // ENOSPC and EMFILE report the limits of inotify.
            let watch: &[&str] = match errno {
                libc::ENOSPC | libc::EDQUOT => &["max_user_watches"],
                _ => expected,
            };
            check("watch", WatchError::new(&path(), os(errno)).hint(), watch);
        }
        let none_left = WatchError::Exhausted { path: PathBuf::from("/r"), source: os(libc::EMFILE) };
        check("inotify", none_left.hint(), &["ulimit -n", "max_user_instances"]);
        let codes: [(i32, &[&str]); 6] = [
            (rusqlite::ffi::SQLITE_CANTOPEN, &["permissions"]),
            (rusqlite::ffi::SQLITE_READONLY, &["permissions"]),
            (rusqlite::ffi::SQLITE_PERM, &["permissions"]),
            (rusqlite::ffi::SQLITE_BUSY, &["another program"]),
            (rusqlite::ffi::SQLITE_IOERR, &["disk, and the system log"]),
            (rusqlite::ffi::SQLITE_MISUSE, &[]),
        ];
        for (code, expected) in codes {
            check("SQLite", Some(sqlite(code).hint()), expected);
        }
        check(
            "full",
            Some(DatabaseError::Full { path: PathBuf::from("/r/index.db") }.hint()),
            &["some space"],
        );
        check("index", IndexError::from(sqlite(rusqlite::ffi::SQLITE_CANTOPEN)).hint(), &["permissions"]);
        check("damage", find_hint(&anyhow::anyhow!("of no known kind")), &[]);
    }
}
