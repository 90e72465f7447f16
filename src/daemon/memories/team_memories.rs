//! Shares memories with a team through a server.

pub(super) mod followed_copies;
pub(super) mod queue_changes;
pub(super) mod take_versions;
pub(super) mod team_exchange;
pub(in crate::daemon) mod team_sync;
