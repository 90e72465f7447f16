//! Keeps memories of this user, of files and of the team apart and together.

pub(crate) mod conflict_rows;
pub(crate) mod deletion_rows;
pub(crate) mod file_updates;
pub(crate) mod own_rows;
pub(crate) mod own_settlement;
pub(crate) mod shared_rows;
