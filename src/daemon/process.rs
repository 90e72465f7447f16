//! Prepares the process of the daemon: its lock, log, limits and program.

pub(super) mod descriptors;
pub(super) mod lock;
pub(super) mod log;
pub(super) mod memory_limit;
pub(super) mod preflight;
pub(super) mod program;
