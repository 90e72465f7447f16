//! Answers the methods about memories.
//!
//! One thread owns memory.db (`keeper`). `call` maps a method to its verb. Verbs read and write through `transaction`, one
//! job after the other, and never wait for the index inside one. An acknowledged change is on disk.

mod about;
mod add;
mod backups;
pub(super) mod call;
mod confirm;
mod consolidate;
pub(super) mod databases;
pub(super) mod dedupe;
mod documents;
pub(super) mod enter_worktree;
mod exchanged_files;
pub(super) mod export;
mod file_authors;
pub(super) mod file_check;
mod file_disk;
pub(super) mod file_edits;
mod file_form;
mod file_look;
mod file_recovery;
mod file_text;
mod file_write;
mod file_writer;
pub(super) mod finder;
mod gone_worktrees;
pub(super) mod hits;
mod import;
pub(super) mod keeper;
mod known_files;
mod links;
mod list_files;
pub(super) mod memories_for_path;
mod merge;
mod near;
mod panics;
pub(super) mod pinned;
pub(super) mod queries;
mod recall;
pub(super) mod records;
mod remove;
mod resolve_file;
mod resolve_own;
pub(super) mod rules;
pub(super) mod share_rules;
mod sharing;
pub(super) mod show;
mod stamp;
pub(super) mod states;
pub(super) mod team_exchange;
pub(super) mod team_follow;
mod team_resolve;
mod team_take;
mod team_write;
pub(super) mod transaction;
mod update;
