//! Names the worktree numbers that are not the number of one worktree.

/// The memories of the whole repository.
pub(in crate::daemon) const WHOLE_REPOSITORY: i64 = 0;

/// The worktree of a request, while no file of it was ever seen: nothing that is shared is there.
pub(in crate::daemon) const UNKNOWN_WORKTREE: i64 = -1;
