//! Chooses between the files of the repository and those of the user.

use super::agent_table::{Agent, FileSpec};

/// The owner of the files that are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    /// The user's, for all projects.
    User,
    /// The project's, which are usually shared by all who work on it.
    Project,
}

impl FileScope {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    pub(super) fn files(self, agent: &Agent) -> &'static [FileSpec] {
        match self {
            Self::User => agent.user,
            Self::Project => agent.project,
        }
    }
}
