//! Prepares the process of the daemon: its lock, log, limits and program.

pub(super) mod daemon_lock;
pub(super) mod daemon_log;
pub(super) mod descriptors;
pub(super) mod memory_limit;
pub(super) mod preflight;
pub(super) mod program_path;
