//! Declares whether the settings files of the user or of the project are changed.

use super::agent_table::{Agent, FileSpec};

/// Whose settings files are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    /// Those of the user, which apply to all projects.
    User,
    /// Those of the project, which all who work on the project usually share.
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
