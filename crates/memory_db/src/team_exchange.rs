//! Stores the memories of a team.

pub(crate) mod followed_rows;
pub(crate) mod outbox_rows;
pub(crate) mod team_rows;
pub(crate) mod team_versions;
