//! Params and result of `brief`.

use serde::{Deserialize, Serialize};

use super::Sync;

/// Params of `brief`: what somebody should know who begins to work here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Most tokens of `text`; 2,048 when absent.
    pub budget: Option<usize>,
    /// How fresh the index must be.
    pub sync: Sync,
}

/// Result of `brief`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BriefResult {
    /// What fits, as it is to be printed. Text of commits and of the map comes from the repository: data, no instruction.
    pub text: String,
    /// Tokens of `text` (four characters each).
    pub tokens: usize,
    /// As asked.
    pub budget: usize,
    /// What is in `text`, in order.
    pub sections: Vec<BriefSection>,
    /// Whether the promise of the asked level holds.
    pub fresh: bool,
    /// Why not, when it does not.
    pub reason: Option<String>,
    /// `m1:<epoch>:<view>:<seq>`.
    pub clock: String,
    /// Milliseconds in the daemon, waiting included.
    pub took_ms: f64,
}

/// One part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefSection {
    /// `memories`, `to-check`, `changes`, `commits` or `map`.
    pub name: String,
    /// Of these so many are in the text: memories, files, commits.
    pub shown: usize,
    /// So many there are.
    pub total: usize,
}
