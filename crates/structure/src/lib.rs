//! Finds the definition that a use of a name means, and draws the map of a repository.
//!
//! Pure: definitions and uses in, answers out. No file system, clock, environment or SQL.

pub mod map;
pub mod resolve;
