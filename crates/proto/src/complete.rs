//! Params and results of `complete`.

use serde::{Deserialize, Serialize};

use super::caveats::Caveats;

/// Params of `complete`: what begins so, for the completion of a command line. Nothing is waited for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompleteParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// What is completed.
    pub what: CompletionKind,
    /// For paths: the directory, from the top of the worktree; empty for the top.
    pub dir: String,
    /// What has been typed of the word.
    #[serde(rename = "begins")]
    pub prefix: String,
}

/// The kind of word that `complete` completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompletionKind {
    /// Indexed files and their directories, one level at a time.
    #[default]
    Path,
    /// Languages of indexed files.
    Lang,
}

/// Result of `complete`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CompleteResult {
    /// The words, at most 500, in order; of paths the names in `dir`, those of directories with a `/` at the end.
    pub words: Vec<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}
