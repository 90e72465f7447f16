//! Params and results of the methods about a team.

use serde::{Deserialize, Serialize};

/// Params of `team.status`, `team.sync` (sends what is queued, and takes what is new), `team.members` and `team.leave`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
}

/// Result of `team.status` and `team.sync`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamStatusResult {
    /// Address of the server; absent if there is no team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Name of this repository for the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Whether there is a connection.
    pub is_connected: bool,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Version of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The role, as the server knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Whether it may write.
    pub may_write: bool,
    /// When all that the team had was here, and all that was written here was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<String>,
    /// Number of memories of the team in this repository that are here.
    pub memories: u64,
    /// Number of changes that are to be sent.
    pub unsent: u64,
    /// Number of memories in conflict.
    pub conflicts: u64,
    /// Number of texts that show no memory.
    pub unreadable: u64,
    /// Other repositories whose memories are searched here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<FollowedRepository>,
}

/// Another repository of the team, whose memories are here too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowedRepository {
    /// Its name for the team.
    pub repository: String,
    /// Number of its memories that are here.
    pub memories: u64,
}

/// A role that may see a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamMember {
    /// The role.
    pub role: String,
    /// The repository, or a beginning with an `*`.
    pub repository: String,
    /// Whether it may write.
    pub may_write: bool,
}

/// Result of `team.members`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamMembersResult {
    /// Name of this repository for the team.
    pub repository: String,
    /// Who may see it.
    pub members: Vec<TeamMember>,
}

/// Result of `team.leave`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamLeaveResult {
    /// Number of memories of the team that are this user's alone now.
    pub memories: u64,
}
