//! Maps errors of git to the replies of the protocol, each with its remedy.

use memod_base::paths::LocateError;
use memod_proto::{RpcError, code};

use crate::git_error::GitError;
use crate::refs::revision::RevisionError;

/// Git's files could not be read.
impl From<GitError> for RpcError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Io(failed) => LocateError::Io(failed).into(),
            error => Self::new(code::INTERNAL, error.to_string()).with_hint_if(error.hint()),
        }
    }
}

impl From<RevisionError> for RpcError {
    fn from(error: RevisionError) -> Self {
        let (code, hint) = match error {
            RevisionError::Git(error) => return error.into(),
            RevisionError::Unknown(_) => (
                code::INVALID_PARAMS,
                "name one that `git log --oneline` or `git branch -a` lists; a time is 2026-11-01, 3d or 2h30m",
            ),
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
