//! Names the worktree numbers with a special meaning.

/// Means the memories of the whole repository.
pub(in crate::daemon) const WHOLE_REPOSITORY: i64 = 0;

/// Means a worktree in which no file of a shared memory was ever seen, so that it has no shared memories.
pub(in crate::daemon) const UNKNOWN_WORKTREE: i64 = -1;
