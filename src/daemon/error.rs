//! Maps errors to the replies of the protocol, each with its remedy.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::git::{GitError, RevisionError};
use crate::hooks::HooksError;
use crate::paths::{LocateError, RepoLayout};
use crate::proto::{METHODS, RpcError, code};
use crate::store::{ForeignError, Stopped, StoreError};

/// When to ask again after a limit was met: requests and reads under way give back what they hold.
pub(super) const RETRY_AFTER_MS: u64 = 100;

pub(super) type RpcResult<T> = Result<T, RpcError>;

pub(super) fn bad_params(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

/// Returns the refusal of what is over a limit for now.
pub(super) fn busy(message: impl Into<String>) -> RpcError {
    RpcError::new(code::BUSY, message).with_retry(RETRY_AFTER_MS)
}

pub(super) fn wrong_repository(cwd: &Path, ours: &RepoLayout) -> RpcError {
    let (cwd, ours) = (cwd.display(), ours.common_dir.as_ref().unwrap_or(&ours.root).display());
    let message = format!("{cwd}: belongs to another repository than this daemon's, {ours}");
    RpcError::new(code::WRONG_REPOSITORY, message)
}

pub(super) fn no_method(method: &str) -> RpcError {
    let hint = format!("methods: {}", METHODS.join(", "));
    RpcError::new(code::NO_METHOD, format!("{method}: no such method")).with_hint(hint)
}

impl From<StoreError> for RpcError {
    fn from(error: StoreError) -> Self {
        let hint = match error {
            StoreError::Full { .. } => {
                "free some space on that file system; all that was acknowledged is kept"
            }
            StoreError::Newer { .. } => "install the version of memod that wrote it, or a later one",
            _ => "`memo doctor` checks the disk and the databases",
        };
        Self::new(code::STORE, error.to_string()).with_hint(hint)
    }
}

impl From<Stopped<Self>> for RpcError {
    fn from(stopped: Stopped<Self>) -> Self {
        match stopped {
            Stopped::Refused(error) => error,
            Stopped::Store(error) => error.into(),
        }
    }
}

impl From<ForeignError> for RpcError {
    fn from(error: ForeignError) -> Self {
        let told = bad_params(error.to_string());
        match error {
            ForeignError::Unusable { hint, .. } => told.with_hint(hint),
            ForeignError::File { .. } => told,
        }
    }
}

/// Something of git's could not be read.
impl From<GitError> for RpcError {
    fn from(error: GitError) -> Self {
        let hint = match error {
            GitError::Io(failed) if failed.is_transient() => return LocateError::Io(failed).into(),
            GitError::Missing { .. } => {
                "a shallow or partial clone lacks it: `git fetch --unshallow` or `git fetch --refetch`"
            }
            GitError::Config { .. } => "`git config --list` says what is wrong with it",
            GitError::Ref { .. } => "`git show-ref` lists the refs",
            _ => "`git fsck` tells what is damaged",
        };
        Self::new(code::INTERNAL, error.to_string()).with_hint(hint)
    }
}

impl From<RevisionError> for RpcError {
    fn from(error: RevisionError) -> Self {
        let (code, hint) = match error {
            RevisionError::Git(error) => return error.into(),
            RevisionError::Unknown(_) => {
                (code::NOT_FOUND, "`git log --oneline` and `git branch -a` list what there is")
            }
            RevisionError::Ambiguous { .. } => (code::INVALID_PARAMS, "give more digits"),
            RevisionError::Unborn(_) => (code::NOT_FOUND, "there is a history once something is committed"),
            RevisionError::NoParent { .. } => {
                (code::NOT_FOUND, "history is shorter, or this is a shallow clone")
            }
            RevisionError::NoUpstream(_) => {
                (code::NOT_FOUND, "`git branch --set-upstream-to=origin/BRANCH` sets one")
            }
        };
        Self::new(code, error.to_string()).with_hint(hint)
    }
}

impl From<HooksError> for RpcError {
    fn from(error: HooksError) -> Self {
        let told = Self::new(code::GIT, error.to_string());
        match error {
            HooksError::Locked(lock) => told.with_hint(format!(
                "try again; if no git is running, an interrupted one left {} behind",
                lock.display()
            )),
            _ => told,
        }
    }
}

/// There is no worktree where one was looked for, or it cannot be known now.
impl From<LocateError> for RpcError {
    fn from(error: LocateError) -> Self {
        let refusal = |code| Self::new(code, error.to_string());
        let LocateError::Io(failed) = &error else { return refusal(code::WRONG_REPOSITORY) };
        match failed.source.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => refusal(code::WRONG_REPOSITORY),
            ErrorKind::PermissionDenied => {
                refusal(code::IO).with_hint("check the owner and the permissions of that path")
            }
            _ if is_out_of_descriptors(&failed.source) => {
                let hint = "the daemon has no file descriptor left: raise `ulimit -n`, then `memo restart`";
                refusal(code::BUSY).with_hint(hint).with_retry(RETRY_AFTER_MS)
            }
            _ => refusal(code::IO).with_hint("look at that file system; `memo logs` may say more"),
        }
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
            let error = RpcError::from(LocateError::from(PathError { action: "read", path, source }));
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
