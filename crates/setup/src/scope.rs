//! Declares whether the settings files of the user or of the project are changed.

use super::agent_table::{Agent, FileSpec};

/// The owner of the settings files to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    /// The user; these settings apply to all projects.
    User,
    /// The project; all who work on it usually share these settings.
    Project,
}

impl FileScope {
    /// Returns the word of the command line for the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Returns the settings files of an agent in this scope.
    pub(super) fn settings_files(self, agent: &Agent) -> &'static [FileSpec] {
        match self {
            Self::User => agent.user,
            Self::Project => agent.project,
        }
    }
}
