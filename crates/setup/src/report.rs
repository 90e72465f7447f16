//! Declares what a run has done, for display.

use serde::Serialize;

use super::Refusal;

/// The changes for one agent.
#[derive(Debug, Serialize)]
pub struct AgentReport {
    /// The agent, as it is typed.
    pub agent: &'static str,
    /// The name that it calls itself.
    pub name: &'static str,
    /// `user` or `project`.
    pub scope: &'static str,
    /// Its files.
    pub files: Vec<FileReport>,
    /// A note on what to know or do; may be empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

/// The change of one file.
#[derive(Debug, Serialize)]
pub struct FileReport {
    /// The file, absolute.
    pub path: String,
    /// The file as a person would write it.
    #[serde(skip)]
    pub shown: String,
    /// The action that was taken, or would be.
    pub action: Action,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// The action on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It did not exist.
    Created,
    /// Something was inserted, updated or removed.
    Changed,
    /// It held nothing but ours.
    Removed,
    /// It is as it should be.
    Unchanged,
    /// Another agent that was set up needs it.
    Kept,
    /// It could not be changed; the reason says why.
    LeftAlone,
}

impl Action {
    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
            Self::Kept => "kept",
            Self::LeftAlone => "left alone",
        }
    }
}

/// The outcome for one file, before its path is added.
#[derive(Debug)]
pub(super) struct FileOutcome {
    /// The action that was taken.
    pub(super) action: Action,
    /// Why nothing was done.
    pub(super) reason: Option<String>,
    /// The change.
    pub(super) diff: String,
}

impl FileOutcome {
    /// Returns an outcome without a change.
    pub(super) fn without_change(action: Action, reason: Option<String>) -> Self {
        Self { action, reason, diff: String::new() }
    }
}

impl From<Refusal> for FileOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::without_change(Action::LeftAlone, Some(refusal.to_string()))
    }
}
