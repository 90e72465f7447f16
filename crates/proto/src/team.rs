//! Params and results of the methods about a team.

use serde::{Deserialize, Serialize};

/// Params of `team.status`, `team.sync` (sends queued changes and receives new ones), `team.members` and `team.leave`.
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
    /// Why there is no connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Version of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Role of this user, as the server knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Whether the role may write.
    pub may_write: bool,
    /// Time of the last complete sync: all data of the team had arrived, and all local changes were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<String>,
    /// Number of memories of the team in this repository that are here.
    pub memories: u64,
    /// Number of changes to send.
    pub unsent: u64,
    /// Number of memories in conflict.
    pub conflicts: u64,
    /// Number of texts that contain no readable memory.
    pub unreadable: u64,
    /// Other repositories whose memories are searched here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<FollowedRepository>,
}

/// Another repository of the team, with memories that are also here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowedRepository {
    /// Name of the repository for the team.
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
    /// The repository, or a prefix that ends with `*`.
    pub repository: String,
    /// Whether the role may write.
    pub may_write: bool,
}

/// Result of `team.members`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamMembersResult {
    /// Name of this repository for the team.
    pub repository: String,
    /// Roles that may see the repository.
    pub members: Vec<TeamMember>,
}

/// Result of `team.leave`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamLeaveResult {
    /// Number of memories of the team that now belong to this user alone.
    pub memories: u64,
}
