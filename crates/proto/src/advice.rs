//! Params and result of `advise`: what an agent should be told now, if anything.

use serde::{Deserialize, Serialize};

use super::anchor::AnchorState;
use super::caveats::Caveats;

/// An occasion in the session of an agent.
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

/// How the session of an agent began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beginning {
    /// A new session.
    #[default]
    Startup,
    /// An earlier session goes on, with all that was said.
    Resume,
    /// A copy of an earlier session goes on, with all that was said.
    Fork,
    /// The session goes on without anything that was said.
    Clear,
    /// The session goes on with a summary of what was said.
    Compact,
}

/// Params of `advise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviseParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// What happens.
    pub occasion: Occasion,
    /// The agent's name of the session, at most 256 bytes. A session is told each thing once; without a name nothing is
    /// remembered.
    pub session: Option<String>,
    /// How the session began; for `session-start`.
    pub beginning: Beginning,
    /// The prompt; for `prompt`.
    pub prompt: String,
    /// Files, relative to `cwd` or absolute; for `before-edit`.
    pub paths: Vec<String>,
    /// Most tokens of `text`; 400 when absent, for `session-start` 1,200.
    pub budget: Option<usize>,
    /// Time after which the caller no longer listens, ms; 1,000 when absent. What comes later does not count as told.
    pub within_ms: Option<u64>,
    /// Whether to list what was considered, and to remember nothing.
    pub explain: bool,
    /// Whether the caller sends the `receipt` of the answer once it has passed the text on. What was told counts as told only
    /// then; of other callers at once.
    pub gives_receipt: bool,
    /// The receipt of an answer whose text was passed on. Nothing else is asked then.
    pub receipt: Option<String>,
}

/// Result of `advise`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviseResult {
    /// The text for the agent; empty if there is nothing that would help.
    pub text: String,
    /// Tokens of `text` (four characters each).
    pub tokens: usize,
    /// The budget.
    pub budget: usize,
    /// Why `text` is empty.
    pub silent: Option<String>,
    /// To be sent when the text was passed on; null if nothing is remembered, or at once.
    pub receipt: Option<String>,
    /// The memories in `text`, best first; with `explain` also those that were considered.
    pub items: Vec<Advice>,
    /// Milliseconds in the daemon.
    pub took_ms: f64,
    /// What it says about itself.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// A memory that was considered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Advice {
    /// Its id.
    pub id: String,
    /// Whether it is in the text.
    pub told: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// For a prompt: the sum of the shares in `evidence`; it is told from 0 on.
    pub score: Option<f64>,
    /// What speaks for and against it; only with `explain`.
    pub evidence: Vec<Evidence>,
    /// State of the code that it is about.
    pub state: Option<AnchorState>,
}

/// One reason to tell a memory, or not to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name.
    pub name: String,
    /// Its strength, 0 to 1.
    pub value: f64,
    /// What it adds to the score: strength times weight.
    pub share: f64,
}
