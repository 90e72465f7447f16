//! Maps errors about paths to the replies of the protocol, each with its remedy.

use std::io::ErrorKind;

use memod_base::paths::{self, LocateError, OutsideError};

use crate::{RETRY_AFTER_MS, RpcError, code};

/// The remedy for a path outside the worktree.
pub const OUTSIDE_REMEDY: &str = "name paths of this worktree, or another one with -C";

impl From<OutsideError> for RpcError {
    fn from(error: OutsideError) -> Self {
        Self::new(code::INVALID_PARAMS, error.to_string()).with_hint(OUTSIDE_REMEDY)
    }
}

/// Maps a missing worktree, or a directory that cannot be examined now, to an error with its remedy.
impl From<LocateError> for RpcError {
    fn from(error: LocateError) -> Self {
        let message = error.to_string();
        let LocateError::Io(failed) = error else { return Self::new(code::WRONG_REPOSITORY, message) };
        match failed.source.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => Self::new(code::WRONG_REPOSITORY, message),
            _ if paths::is_out_of_descriptors(&failed.source) => {
                Self::new(code::BUSY, message).with_retry(RETRY_AFTER_MS).with_hint_if(failed.hint())
            }
            _ => Self::new(code::IO, message)
                .with_hint(failed.hint().unwrap_or("`memo daemon logs` may say more")),
        }
    }
}
