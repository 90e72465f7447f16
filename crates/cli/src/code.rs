//! Shows code and its history: definitions, uses, outlines, the map, changes and commits.

pub(crate) mod map;
pub(crate) mod open;
pub(crate) mod outline;
pub(crate) mod print_brief;
pub(crate) mod print_changed;
pub(crate) mod show_code;
mod typed_revision;
pub(crate) mod uses;
pub(crate) mod why;
