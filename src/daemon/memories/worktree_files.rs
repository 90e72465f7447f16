//! Keeps the database rows of shared memories equal to the files of each worktree.

pub(super) mod apply_files;
pub(in crate::daemon) mod enter_worktree;
pub(super) mod gone_worktrees;
pub(super) mod last_edits;
pub(super) mod list_files;
mod outside_checkout;
mod read_memory_file;
pub(in crate::daemon) mod take_edits;
