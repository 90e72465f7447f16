//! Params and results of `complete`.

use serde::{Deserialize, Serialize};

use crate::caveats::Caveats;

/// Params of `complete`, which lists the words that begin with a prefix, for command-line completion. It waits for
/// nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompleteParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Kind of word to complete.
    pub what: CompletionKind,
    /// For paths: the directory to list, from the top of the worktree; empty for the top.
    pub dir: String,
    /// The part of the word that has been typed.
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
    /// The words in order, at most 500. Paths are names in `dir`; names of directories end with `/`.
    pub words: Vec<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}
