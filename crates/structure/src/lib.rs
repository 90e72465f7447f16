//! Finds the definition that a use of a name means, renders the map of a repository, and reads the tests in a text.
//!
//! Pure: takes the definitions and uses of files, and uses no file system, clock, environment or SQL.

pub mod http_requests;
pub mod map;
pub mod resolve;
pub mod route_prefixes;
pub mod test_blocks;
