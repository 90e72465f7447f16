//! Runs the calls of memory methods, in transactions that may write files of memories.

pub(super) mod file_writer;
pub(in crate::daemon) mod method_call;
