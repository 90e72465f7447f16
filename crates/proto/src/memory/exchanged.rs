//! Params and results of `memory.check_files` and `memory.restore_file`, for files that are exchanged without a branch.

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::Caveats;

/// Params of `memory.check_files`, which checks whether others may have certain texts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckFilesParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Texts of memory files.
    pub files: Vec<String>,
    /// Other texts, such as commit messages.
    pub texts: Vec<String>,
}

/// Result of `memory.check_files`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckFilesResult {
    /// For each file, why it is not a memory that others may have; null if it is one.
    pub files: Vec<Option<String>>,
    /// For each other text, why others may not have it; null if they may.
    pub texts: Vec<Option<String>>,
}

/// Params of `memory.restore_file`, which asks for a file that was exchanged and is no longer in the worktree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreFileParams {
    /// The caller, with its working directory, kind of client and agent name.
    #[serde(flatten)]
    pub caller: Caller,
    /// Id of the memory.
    pub id: String,
    /// The text of the file when it was exchanged.
    pub text: String,
}

/// Result of `memory.restore_file`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreFileResult {
    /// Fate of the file.
    pub fate: FileFate,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// The fate of a file that is no longer in the worktree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// The file stays removed, because a command of memod removed it.
    #[default]
    Removed,
    /// The file vanished without a command, and nothing newer is known: the caller may write it as it was.
    AsItWas,
    /// The file vanished without a command after a change: memod has written it with that change.
    Written,
}
