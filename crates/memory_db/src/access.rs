//! Opens a transaction to the types of each subject.

pub(crate) mod row_access;
pub(crate) mod touched_rows;
pub(crate) mod worktree_scope;
