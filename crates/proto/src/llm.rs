//! Params and results of the methods that ask a language model.
//!
//! Every method has `dry_run`: nothing is sent, and `requests` has what would be. Without an answer `problem` says why, and the
//! result has what there is without one.

use serde::{Deserialize, Serialize};

use super::caveats::Caveats;
use super::memory::Brief;

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmMessage {
    /// `system`: instructions of memod; `user`: the data.
    pub role: String,
    /// Its text, from which credentials and private parts are cut.
    pub content: String,
}

/// The request to the language model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmRequest {
    /// Address that it goes to.
    pub url: String,
    /// Model that is asked.
    pub model: String,
    /// The messages, as they are sent.
    pub messages: Vec<LlmMessage>,
    /// The body, byte for byte. A server that does not know a param of it is asked again without.
    pub body: String,
    /// Estimated tokens of the messages.
    pub tokens: u64,
    /// Tokens that the answer may have.
    pub most_answer_tokens: u64,
    /// Number of credentials and private parts that were cut.
    pub cut: usize,
}

/// Tokens of one purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmUse {
    /// `expand`, `summarise`, `compare`, `suggest` or `distil`.
    pub purpose: String,
    /// Tokens of today.
    pub tokens: u64,
}

/// Result of `llm.status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmStatusResult {
    /// Why no language model is asked, if none is.
    pub problem: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Address of the server; empty if none is set.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// The variable that has the key; empty if there is none.
    pub key_env: String,
    /// The day that is counted.
    pub day: String,
    /// Tokens of the day, in all repositories.
    pub tokens: u64,
    /// Most tokens of a day.
    pub tokens_a_day: u64,
    /// Requests of the day.
    pub requests: u64,
    /// Tokens by what they were for.
    pub uses: Vec<LlmUse>,
    /// The file that keeps the tokens of each day.
    pub file: String,
    /// The last failure since the daemon started.
    pub last_error: Option<String>,
    /// When it was.
    pub last_error_at: Option<String>,
}

/// Params of `llm.expand`: other words for a query, as a search with `expand` asks for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmExpandParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The query.
    pub query: String,
    /// Send nothing, and return what would be sent.
    pub dry_run: bool,
}

/// Result of `llm.expand`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmExpandResult {
    /// The words.
    pub words: Vec<String>,
    /// What would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there are none.
    pub problem: Option<String>,
}

/// Params of `llm.summarise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSummariseParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The text of a `brief`; its first 48 KiB are sent.
    pub text: String,
    /// Send nothing, and return what would be sent.
    pub dry_run: bool,
}

/// Result of `llm.summarise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSummariseResult {
    /// The summary, which is what a model says of data that others wrote.
    pub summary: Option<String>,
    /// What would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there is none.
    pub problem: Option<String>,
}

/// Params of `llm.suggest`: a title and tags for a memory. Nothing is changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSuggestParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The text of the memory; its first 16 KiB are sent.
    pub content: String,
    /// Send nothing, and return what would be sent.
    pub dry_run: bool,
}

/// Result of `llm.suggest`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSuggestResult {
    /// The title.
    pub title: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// What would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there is nothing.
    pub problem: Option<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `llm.compare`: whether memories that are near each other say the same or contradict each other. Nothing is
/// changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCompareParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Only this container.
    pub container: Option<String>,
    /// Minimum cosine, 0.5 to 1; 0.6 when absent.
    pub threshold: Option<f64>,
    /// Maximum number of pairs, 1 to 20; 10 when absent.
    pub limit: Option<usize>,
    /// Send nothing, and return what would be sent.
    pub dry_run: bool,
}

/// Two memories, and what a model says of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmPair {
    /// The older one.
    pub left: Brief,
    /// The newer one.
    pub right: Brief,
    /// Their cosine.
    pub cosine: f64,
    /// `same`, `contradict` or `neither`; null if the model said nothing of them.
    pub verdict: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The command that would do what is proposed: nothing is done by itself.
    pub command: Option<String>,
}

/// Result of `llm.compare`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCompareResult {
    /// The pairs, the nearest first.
    pub pairs: Vec<LlmPair>,
    /// What would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why nothing is said of them.
    pub problem: Option<String>,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `llm.distil`: memories that a part of a transcript is worth. Nothing is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmDistilParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The part, at most 16 KiB.
    pub text: String,
    /// Send nothing, and return what would be sent.
    pub dry_run: bool,
}

/// A text that may become a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCandidate {
    /// Text.
    pub content: String,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
}

/// Result of `llm.distil`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmDistilResult {
    /// The candidates.
    pub memories: Vec<LlmCandidate>,
    /// What would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there are none.
    pub problem: Option<String>,
}
