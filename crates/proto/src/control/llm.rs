//! Params and results of the methods that ask a language model.
//!
//! Every method has `dry_run`, which sends nothing and returns the `requests` instead. Without an answer of the model,
//! `problem` gives the reason, and the result holds everything that needs no answer.

use serde::{Deserialize, Serialize};

use crate::caveats::Caveats;
use crate::memory::Brief;

/// One message to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmMessage {
    /// `system` for instructions of memod, `user` for the data.
    pub role: String,
    /// Text of the message, without credentials and private parts.
    pub content: String,
}

/// A request to the language model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmRequest {
    /// Address to which the request goes.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// The messages, as they are sent.
    pub messages: Vec<LlmMessage>,
    /// The body, byte for byte. A server that does not know one of its params gets the request again without it.
    pub body: String,
    /// Estimated tokens of the messages.
    pub tokens: u64,
    /// Maximum number of tokens in the answer.
    pub most_answer_tokens: u64,
    /// Number of credentials and private parts that were removed.
    pub cut: usize,
}

/// Tokens that were used for one purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmUse {
    /// `expand`, `summarise`, `compare`, `suggest` or `distil`.
    pub purpose: String,
    /// Number of tokens today.
    pub tokens: u64,
}

/// Result of `llm.status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmStatusResult {
    /// Why no language model is used; null if one is.
    pub problem: Option<String>,
    /// The remedy.
    pub hint: Option<String>,
    /// Address of the server; empty if none is set.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// Environment variable that holds the key; empty if there is none.
    pub key_env: String,
    /// The day to which the numbers refer.
    pub day: String,
    /// Number of tokens on that day, in all repositories.
    pub tokens: u64,
    /// Maximum number of tokens per day.
    pub tokens_a_day: u64,
    /// Number of requests on that day.
    pub requests: u64,
    /// Tokens by purpose.
    pub uses: Vec<LlmUse>,
    /// Path of the file that keeps the tokens of each day.
    pub file: String,
    /// The last failure since the daemon started.
    pub last_error: Option<String>,
    /// Time of the last failure.
    pub last_error_at: Option<String>,
}

/// Params of `llm.expand`, which asks for other words for a query, as a search with `expand` does.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmExpandParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The query.
    pub query: String,
    /// Whether to send nothing, and return the requests instead.
    pub dry_run: bool,
}

/// Result of `llm.expand`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmExpandResult {
    /// Other words for the query.
    pub words: Vec<String>,
    /// Requests that would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there are no words.
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
    /// Whether to send nothing, and return the requests instead.
    pub dry_run: bool,
}

/// Result of `llm.summarise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSummariseResult {
    /// The summary, which a model wrote about data of other authors.
    pub summary: Option<String>,
    /// Requests that would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there is no summary.
    pub problem: Option<String>,
}

/// Params of `llm.suggest`, which suggests a title and tags for a memory. It changes nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSuggestParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The text of the memory; its first 16 KiB are sent.
    pub content: String,
    /// Whether to send nothing, and return the requests instead.
    pub dry_run: bool,
}

/// Result of `llm.suggest`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmSuggestResult {
    /// The suggested title.
    pub title: Option<String>,
    /// The suggested tags.
    pub tags: Vec<String>,
    /// Requests that would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there is no suggestion.
    pub problem: Option<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `llm.compare`, which asks whether memories that are near each other say the same or contradict each
/// other. It changes nothing.
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
    /// Whether to send nothing, and return the requests instead.
    pub dry_run: bool,
}

/// Two memories with the verdict of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmPair {
    /// The older memory.
    pub left: Brief,
    /// The newer memory.
    pub right: Brief,
    /// Cosine of the two memories.
    pub cosine: f64,
    /// `same`, `contradict` or `neither`; null if the model gave no verdict.
    pub verdict: Option<String>,
    /// Reason for the verdict.
    pub reason: Option<String>,
    /// Command that would carry out the proposal; memod does not run it.
    pub command: Option<String>,
}

/// Result of `llm.compare`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCompareResult {
    /// The pairs, nearest first.
    pub pairs: Vec<LlmPair>,
    /// Requests that would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why the pairs have no verdicts.
    pub problem: Option<String>,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// Params of `llm.distil`, which proposes memories from a part of a transcript. It stores nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmDistilParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The part of the transcript, at most 16 KiB.
    pub text: String,
    /// Whether to send nothing, and return the requests instead.
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
    /// Requests that would be sent.
    pub requests: Vec<LlmRequest>,
    /// Why there are no candidates.
    pub problem: Option<String>,
}
