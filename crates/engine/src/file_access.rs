//! Guards the reads of a worktree's files by requests, so that a hanging file system blocks no other request.

pub mod disk_reads;
pub mod file_access_progress;
pub mod gates;
