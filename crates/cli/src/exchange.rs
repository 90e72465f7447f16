//! Runs imports, exports and backups of memories.

mod backup_verbs;
mod distil_transcript;
mod draft_sender;
mod export_memories;
mod import_chats;
mod import_database;
mod import_jsonl;
mod import_markdown;
mod import_memories;
mod import_repo_map;
mod import_slack;
mod limited_files;
mod limited_lines;

pub(super) use self::backup_verbs::{back_up, restore_backup};
pub(super) use self::distil_transcript::distil_transcript;
pub(super) use self::export_memories::{ExportOutcome, export_all, export_memories, export_without_daemon};
pub(super) use self::import_memories::import_memories;
