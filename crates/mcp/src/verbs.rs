//! Declares the verbs that the server runs in this process, and their answers.

use std::path::PathBuf;

use serde_json::Value;

/// A choice of tools to offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Few, so that their list costs few tokens in every session.
    #[default]
    Default,
    /// One for each verb about memories as well.
    Full,
}

/// Runs verbs of the command line in this process.
pub trait VerbRunner: Send + Sync + 'static {
    /// Runs a verb with its arguments for an agent, by its name. Neither stdin nor stdout is touched.
    fn run_verb(&self, words: Vec<String>, agent: Option<String>) -> Answer;

    /// Returns the top of the worktree.
    ///
    /// # Errors
    /// When the directory of the server is in none.
    fn worktree_root(&self) -> Result<PathBuf, Failure>;

    /// Returns how far the first index is; `None` if no daemon runs, or it has nothing to do.
    fn indexing_progress(&self) -> Option<IndexingProgress>;
}

/// The answer of a verb.
#[derive(Debug, Default)]
pub struct Answer {
    /// The text for people.
    pub text: String,
    /// The whole result.
    pub json: Option<Value>,
    /// Sentences beside the text, such as why it is not up to date.
    pub notes: Vec<String>,
    /// The reason for which it failed. To find nothing is no failure.
    pub failure: Option<Failure>,
}

/// Why a verb failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The step that failed, for which path, and why.
    pub message: String,
    /// A way to solve it.
    pub hint: Option<String>,
    /// The message may quote the repository or a memory.
    pub is_quoting: bool,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "\nhint: {hint}"))
    }
}

/// The progress of indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexingProgress {
    /// Files done.
    pub done: u64,
    /// Files to examine.
    pub total: u64,
}
