//! Merges the contents of other databases.

pub(crate) mod database_contents;
pub(crate) mod if_readable;
pub(crate) mod merge_contents;
pub(crate) mod saved_sharing;
