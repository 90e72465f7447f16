//! Lists the changes in a worktree, and the commits behind a line.

pub(super) mod changed;
pub(super) mod why;
