//! Params and result of `advise`, which returns text that helps an agent at a point of its session.

use serde::{Deserialize, Serialize};

use crate::anchor::AnchorState;
use crate::caveats::Caveats;

/// A point in an agent's session at which `advise` is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occasion {
    /// The session begins.
    SessionStart,
    /// A prompt was submitted.
    #[default]
    Prompt,
    /// Files are about to be edited.
    BeforeEdit,
}

impl Occasion {
    /// All occasions.
    pub const ALL: [Self; 3] = [Self::SessionStart, Self::Prompt, Self::BeforeEdit];

    /// Returns the word used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Prompt => "prompt",
            Self::BeforeEdit => "before-edit",
        }
    }
}

/// The way in which an agent's session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beginning {
    /// A new session.
    #[default]
    Startup,
    /// An earlier session continues with its whole conversation.
    Resume,
    /// A copy of an earlier session continues with its whole conversation.
    Fork,
    /// The session continues without its earlier conversation.
    Clear,
    /// The session continues with a summary of its conversation.
    Compact,
}

/// Params of `advise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviseParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Occasion of the call.
    pub occasion: Occasion,
    /// Name that the agent gives its session, at most 256 bytes. Each piece of advice is delivered once per session;
    /// without a name, no delivery is recorded.
    pub session: Option<String>,
    /// Beginning of the session; used only if `occasion` is `session-start`.
    pub beginning: Beginning,
    /// The user's prompt; used only if `occasion` is `prompt`.
    pub prompt: String,
    /// Files, relative to `cwd` or absolute; used only if `occasion` is `before-edit`.
    pub paths: Vec<String>,
    /// Maximum number of tokens in `text`; when absent 400, or 1,200 for `session-start`.
    pub budget: Option<usize>,
    /// Time that the caller waits for the answer, ms; 1,000 when absent. Advice that comes later does not count as
    /// delivered.
    pub within_ms: Option<u64>,
    /// Whether to list every memory that was considered, and to record no delivery.
    pub explain: bool,
    /// Whether the caller sends the `receipt` of the answer after it has passed the text on. Its advice counts as
    /// delivered only then; for other callers it counts at once.
    pub gives_receipt: bool,
    /// Receipt of an earlier answer whose text was passed on. The call then only records that delivery.
    pub receipt: Option<String>,
}

/// Result of `advise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviseResult {
    /// The text for the agent; empty if nothing would help.
    pub text: String,
    /// Number of tokens in `text` (four characters each).
    pub tokens: usize,
    /// The budget that applied, tokens.
    pub budget: usize,
    /// Why `text` is empty.
    pub silent: Option<String>,
    /// Receipt to send after the text was passed on; null if no delivery is recorded, or if it was recorded at once.
    pub receipt: Option<String>,
    /// The memories in `text`, best first; with `explain`, every memory that was considered.
    pub items: Vec<Advice>,
    /// Milliseconds in the daemon.
    pub took_ms: f64,
    /// Caveats of the answer.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A memory that was considered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Advice {
    /// Id of the memory.
    pub id: String,
    /// Whether the text contains the memory.
    pub told: bool,
    /// Why the text does not contain the memory.
    pub reason: Option<String>,
    /// Sum of the shares in `evidence`, for a prompt; the memory is delivered if the sum is 0 or more.
    pub score: Option<f64>,
    /// Evidence for and against the memory; only with `explain`.
    pub evidence: Vec<Evidence>,
    /// State of the code that the memory is about.
    pub state: Option<AnchorState>,
}

/// One reason for or against delivering a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Name of the reason.
    pub name: String,
    /// Strength of the reason, 0 to 1.
    pub value: f64,
    /// Contribution to the score: strength times weight.
    pub share: f64,
}
