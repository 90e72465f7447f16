//! Runs imports, exports and backups of memories.

mod backup;
mod chats;
mod database;
mod export;
mod files;
mod import;
mod jsonl;
mod lines;
mod markdown;
mod repo_map;
mod send;
mod slack;
mod transcript;

pub(super) use self::backup::{back_up, restore};
pub(super) use self::export::{export, export_all, export_stopped};
pub(super) use self::import::import;
pub(super) use self::transcript::distil;
