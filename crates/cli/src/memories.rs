//! Runs the verbs about memories.

mod about;
mod combine;
mod list;
mod memory_files;
mod notes_commits;
mod notes_files;
mod notes_git;
mod notes_merge;
mod notes_place;
mod notes_report;
mod notes_screen;
mod recall;
mod relations;
mod remove;
mod request;
mod show;
mod similar;
mod sync_notes;
mod write;

pub(super) use about::confirm;
pub(super) use combine::consolidate;
pub(super) use list::{Words, containers, get, history, list, names, some, stats, tags};
pub(super) use memory_files::{share, unshare};
pub(super) use recall::{promote, recall, recent};
pub(super) use relations::{link, links, resolve, unlink};
pub(super) use remove::{REMOVE_HINT, forget, purge, reset};
pub(super) use request::caller;
pub(super) use similar::{dedupe, related};
pub(super) use sync_notes::sync_notes;
pub(super) use write::{add, append, restore, tag, untag, update};
