//! Params and results of the methods that ask a language model.
//!
//! Every method has `dry_run`: nothing is sent, and `requests` has what would be. Without an answer `problem` says why, and the
//! result has what there is without one.

use serde::{Deserialize, Serialize};

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmMessage {
    /// `system`: instructions of memod; `user`: the data.
    pub role: String,
    /// Its text, from which credentials and private parts are cut.
    pub content: String,
}

/// What is sent to the language model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmRequest {
    /// Address that it goes to.
    pub url: String,
    /// Model that is asked.
    pub model: String,
    /// The messages, as they are sent.
    pub messages: Vec<LlmMessage>,
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
