//! Answers the methods about memories.
//!
//! One thread owns memory.db (`keeper`). `call` finds the verb of a method; a verb reads and writes through `transaction`,
//! one job after the other, and never waits for the index meanwhile. What was answered is on the disk.

mod about;
mod add;
mod backups;
pub(super) mod call;
mod confirm;
mod consolidate;
pub(super) mod databases;
mod dedupe;
mod documents;
mod export;
pub(super) mod finder;
pub(super) mod hits;
mod import;
pub(super) mod keeper;
mod links;
pub(super) mod memories_for_path;
mod merge;
mod near;
pub(super) mod pinned;
mod queries;
mod recall;
mod remove;
mod rules;
mod show;
pub(super) mod states;
pub(super) mod transaction;
mod update;
