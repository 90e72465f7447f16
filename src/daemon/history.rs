//! Answers what has changed in a worktree, and why a line is as it is.

pub(super) mod changed;
pub(super) mod kept_changes;
pub(super) mod object_ids;
pub(super) mod why;
