//! Maps errors about paths to the replies of the protocol, each with its remedy.

use std::io::ErrorKind;

use memod_base::paths::{self, LocateError, OutsideError};

use crate::{RETRY_AFTER_MS, RpcError, code};

/// What to do about a path outside the worktree.
pub const INSIDE: &str = "name paths of this worktree, or another one with -C";

impl From<OutsideError> for RpcError {
    fn from(error: OutsideError) -> Self {
        Self::new(code::INVALID_PARAMS, error.to_string()).with_hint(INSIDE)
    }
}

/// No worktree was found, or the directory cannot be examined now.
impl From<LocateError> for RpcError {
    fn from(error: LocateError) -> Self {
        let refusal = |code| Self::new(code, error.to_string());
        let LocateError::Io(failed) = &error else { return refusal(code::WRONG_REPOSITORY) };
        match failed.source.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => refusal(code::WRONG_REPOSITORY),
            _ if paths::is_out_of_descriptors(&failed.source) => {
                refusal(code::BUSY).with_retry(RETRY_AFTER_MS).with_hint_if(failed.hint())
            }
            _ => refusal(code::IO).with_hint(failed.hint().unwrap_or("`memo logs` may say more")),
        }
    }
}
