//! Answers the methods about memories.
//!
//! One thread owns memory.db (`shared/memory_thread`). `memory_methods` maps a method to its function, most of them
//! in `verbs` and `finding`; `calls` runs it, by the `rules`.
//! They read and write in transactions, one job after the other, and never wait for the index inside one. An acknowledged
//! change is on disk.

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
