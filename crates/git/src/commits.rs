//! Follows the history of a repository: walks commits, compares trees, and finds where files and lines came from.
//!
//! [`walk`] and [`range`] list commits, [`changes`] compares two trees, [`rename`] finds former names on top of both,
//! [`log`] lists the commits of a path, and [`blame`] those of its lines, with [`line_map`] and [`moved`].

pub(crate) mod blame;
pub(crate) mod changes;
pub(crate) mod line_map;
pub(crate) mod log;
mod moved;
pub(crate) mod range;
mod rename;
pub(crate) mod walk;
