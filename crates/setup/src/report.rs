//! Declares the report of a run, for display.

use serde::Serialize;

use super::Refusal;

/// The changes that a run made for one agent.
#[derive(Debug, Serialize)]
pub struct AgentReport {
    /// The id of the agent, as a user types it.
    pub agent: &'static str,
    /// The name of the product, for display.
    pub name: &'static str,
    /// `user` or `project`.
    pub scope: &'static str,
    /// The change of each settings file of the agent.
    pub files: Vec<FileReport>,
    /// Advice for the user; may be empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

/// The change that a run made to one file.
#[derive(Debug, Serialize)]
pub struct FileReport {
    /// The absolute path of the file.
    pub path: String,
    /// The path for display.
    #[serde(skip)]
    pub shown: String,
    /// The action that was taken, or that would be taken.
    pub action: FileAction,
    /// Why the file was not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// The kind of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// The file did not exist and was created.
    Created,
    /// Content was inserted, updated or removed.
    Changed,
    /// The file had only our content and was deleted.
    Removed,
    /// Nothing had to be changed.
    Unchanged,
    /// Our content stays, because another agent that is set up reads the file.
    Kept,
    /// The file could not be changed; the report gives the reason.
    LeftAlone,
}

impl FileAction {
    /// Returns the word for display.
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

/// The result for one file, without its path.
#[derive(Debug)]
pub(super) struct FileOutcome {
    /// The action that was taken.
    pub(super) action: FileAction,
    /// Why the file was not changed.
    pub(super) reason: Option<String>,
    /// The change as a unified diff.
    pub(super) diff: String,
}

impl FileOutcome {
    /// Creates the result for a file that was not changed.
    pub(super) fn without_change(action: FileAction, reason: Option<String>) -> Self {
        Self { action, reason, diff: String::new() }
    }
}

impl From<Refusal> for FileOutcome {
    fn from(refusal: Refusal) -> Self {
        Self::without_change(FileAction::LeftAlone, Some(refusal.to_string()))
    }
}
