//! Finds the definition that a use of a name means, and renders the map of a repository.
//!
//! Pure: takes the definitions and uses of files, and uses no file system, clock, environment or SQL.

pub mod map;
pub mod resolve;
