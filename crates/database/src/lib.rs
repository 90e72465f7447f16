//! Opens the databases of this process, and reports their errors.
//!
//! Nothing but SQLite may open or close the database files: on POSIX systems a `close` of the same file elsewhere in the
//! process drops SQLite's locks (<https://www.sqlite.org/howtocorrupt.html>, 2.2).

mod connection;
mod database_error;
mod failed_reads;
pub mod migrations;
mod vector_bytes;

pub use connection::{BUSY_TIMEOUT, check_quickly, corruption_error, open_connection};
pub use database_error::DatabaseError;
pub use vector_bytes::{vector_from_bytes, vector_to_bytes};
