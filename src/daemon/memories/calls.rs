//! Runs the call of a method about memories, in a transaction that may write files.

pub(super) mod file_writer;
pub(in crate::daemon) mod method_call;
