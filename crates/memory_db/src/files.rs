//! Stores which files of worktrees show which memories.

pub(crate) mod file_link_rows;
pub(crate) mod file_rows;
pub(crate) mod sharing_rows;
pub(crate) mod worktree_notices;
pub(crate) mod worktree_rows;
pub(crate) mod written_files;
