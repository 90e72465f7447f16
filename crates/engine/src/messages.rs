//! Declares what the threads of the engine send each other.
//!
//! Everything goes through the main loop: it gets [`loop_event`]s, and sends [`disk_task`]s to the thread of a worktree and
//! [`writer_job`]s to the writer. [`watch_queue`] counts the events of the watcher that wait for the loop.

pub(crate) mod disk_task;
pub(crate) mod loop_event;
pub(crate) mod watch_queue;
pub(crate) mod writer_job;
