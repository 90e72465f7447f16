//! Runs the verbs about memories.

mod about;
mod consolidate;
mod links;
mod list;
mod recall;
mod remove;
mod request;
mod show;
mod similar;
mod write;

pub(super) use about::confirm;
pub(super) use consolidate::consolidate;
pub(super) use links::{link, links, resolve, unlink};
pub(super) use list::{Words, containers, get, history, list, names, some, stats, tags};
pub(super) use recall::{promote, recall, recent};
pub(super) use remove::{forget, purge};
pub(super) use request::caller;
pub(super) use similar::{dedupe, related};
pub(super) use write::{add, append, restore, tag, untag, update};
