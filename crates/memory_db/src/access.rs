//! Gives the types of each subject access to the rows of a transaction.

pub(crate) mod row_access;
pub(crate) mod touched_rows;
pub(crate) mod worktree_scope;
