//! Imports and exports memories, and makes backups of them.

pub(in crate::daemon) mod export_memories;
pub(in crate::daemon) mod foreign_databases;
mod import_differences;
pub(super) mod import_drafts;
pub(super) mod markdown_drafts;
pub(super) mod memory_backups;
