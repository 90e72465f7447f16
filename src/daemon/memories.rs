//! Answers the methods about memories.
//!
//! One thread owns memory.db (`shared/memory_thread`). `memory_methods` maps each method to its function; most functions are
//! in `verbs` and `finding`. `calls` runs the functions as jobs of the thread, by the `rules`. Jobs run one after the other, read
//! and write in transactions, and never wait for the index inside one. An acknowledged change is on disk.

pub(super) mod about_code;
pub(super) mod anchors;
pub(super) mod calls;
mod conflicts;
pub(super) mod finding;
pub(super) mod import_export;
pub(super) mod memory_files;
pub(super) mod memory_methods;
pub(super) mod rules;
pub(super) mod team_memories;
mod verbs;
pub(super) mod worktree_files;
