//! Maps errors of git to the replies of the protocol, each with its remedy.

use memod_base::paths::LocateError;
use memod_proto::{RpcError, code};

use crate::git_error::GitError;
use crate::refs::revision::RevisionError;

/// Maps an error of reading git's files to a reply.
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
                "name a commit or branch that `git log --oneline` or `git branch -a` lists, or a time: 2026-11-01, 3d, 2h30m",
            ),
            RevisionError::WrongDate(_) => (code::INVALID_PARAMS, "write YEAR-MONTH-DAY, as in 2026-11-01"),
            RevisionError::Ambiguous { .. } => (code::INVALID_PARAMS, "give more digits of the commit id"),
            RevisionError::Unborn(_) => (code::NOT_FOUND, "commit something first; there is no history yet"),
            RevisionError::NoParent { .. } => {
                (code::NOT_FOUND, "the history has fewer commits, or this is a shallow clone")
            }
            RevisionError::NoUpstream(_) => {
                (code::NOT_FOUND, "`git branch --set-upstream-to=origin/BRANCH` sets the upstream")
            }
        };
        Self::new(code, error.to_string()).with_hint(hint)
    }
}
