//! Shares memories with a team through a server.

pub(in crate::daemon) mod exchange_status;
pub(super) mod followed_copies;
pub(super) mod queue_changes;
pub(super) mod share_rules;
pub(super) mod take_versions;
pub(super) mod team_exchange;
pub(in crate::daemon) mod team_sync;
