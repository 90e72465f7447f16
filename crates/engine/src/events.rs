//! Publishes changes of worktrees, to subscribers and to the parts of the daemon that have their own data about worktrees.
//!
//! `worktree_news` decides which events there are, and [`subscriptions`] queues them. `observer` is the interface to
//! other parts.

pub(crate) mod observer;
pub mod subscriptions;
pub(crate) mod worktree_news;
