//! Lists the changes in a worktree, and the commits behind a line.

pub(super) mod change_cache;
pub(super) mod changed;
pub(super) mod object_ids;
pub(super) mod why;
