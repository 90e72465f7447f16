//! Declares the interface through which the server runs verbs in this process, and their answers.

use std::path::PathBuf;

use serde_json::Value;

/// The set of tools that the server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolProfile {
    /// Few tools, so that their list costs few tokens in every session.
    #[default]
    Default,
    /// Also a tool for each verb about memories.
    Full,
}

/// Runs verbs of the command line in this process.
pub trait VerbRunner: Send + Sync + 'static {
    /// Runs the verb in `words` with its arguments, for the agent with this name. Uses neither stdin nor stdout.
    fn run_verb(&self, words: Vec<String>, agent: Option<String>) -> VerbAnswer;

    /// Returns the top directory of the worktree.
    ///
    /// # Errors
    /// When the current directory of the server is in no worktree.
    fn worktree_root(&self) -> Result<PathBuf, VerbFailure>;

    /// Returns the progress of the first indexing; `None` if no daemon runs, or nothing is being indexed.
    fn indexing_progress(&self) -> Option<IndexingProgress>;
}

/// The answer of a verb.
#[derive(Debug, Default)]
pub struct VerbAnswer {
    /// The text for people.
    pub text: String,
    /// The whole result as JSON.
    pub json: Option<Value>,
    /// Sentences besides the text, such as the reason why the answer is not up to date.
    pub notes: Vec<String>,
    /// Why the verb failed. Finding nothing is not a failure.
    pub failure: Option<VerbFailure>,
}

/// Why a verb failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerbFailure {
    /// The step that failed, for which path, and why.
    pub message: String,
    /// The remedy for the failure.
    pub hint: Option<String>,
    /// Whether the message may quote the repository or a memory.
    pub may_quote_data: bool,
}

impl std::fmt::Display for VerbFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "\nhint: {hint}"))
    }
}

/// The progress of indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexingProgress {
    /// Number of files that are indexed.
    pub done: u64,
    /// Total number of files to index.
    pub total: u64,
}
