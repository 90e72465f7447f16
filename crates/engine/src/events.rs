//! Publishes changes: to the subscribers of the daemon, and to its parts with data of their own about worktrees.
//!
//! `worktree_news` decides which events there are, and [`subscriptions`] queues them. `observer` is the interface to
//! other parts.

pub(crate) mod observer;
pub mod subscriptions;
pub(crate) mod worktree_news;
