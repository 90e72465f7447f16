//! Params and results of `memory.check_files` and `memory.restore_file`, for files that are exchanged without a branch.

use serde::{Deserialize, Serialize};

use super::Caller;
use crate::Caveats;

/// Params of `memory.check_files`: asks which texts others may have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckFilesParams {
    /// The caller.
    #[serde(flatten)]
    pub caller: Caller,
    /// Texts of files of memories.
    pub files: Vec<String>,
    /// Other texts, such as messages of commits.
    pub texts: Vec<String>,
}

/// Result of `memory.check_files`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckFilesResult {
    /// For each file why it is no memory that others may have; null where it is one.
    pub files: Vec<Option<String>>,
    /// For each other text why others may not have it; null where they may.
    pub texts: Vec<Option<String>>,
}

/// Params of `memory.restore_file`: asks for a file that was exchanged, and is not in the worktree any more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreFileParams {
    /// The caller.
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
    /// What becomes of the file.
    pub fate: FileFate,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// The fate of a file that is not in the worktree any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// Nothing: a verb has removed it.
    #[default]
    Removed,
    /// It vanished without a verb, and nothing newer is known: the caller may write it as it was.
    AsItWas,
    /// It vanished without a verb after it was changed: memod has written it as it was then.
    Written,
}
