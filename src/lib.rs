//! Where is everything, and what must never happen?
//!
//! ```text
//!  files ─ watch ─┐                                   ┌─ memo (cli)
//!  git hooks ─────┼─► plan ─► read ─► extract ─► write ┤   editors, nc   ─► search ─► answer
//!  start-up scan ─┘   (what must be redone)            └─ (embed lags behind)
//! ```

pub mod cli;
pub mod client;
pub mod config;
pub mod daemon;
pub mod embed;
pub mod extract;
pub mod git;
pub mod index;
pub mod map;
pub mod paths;
pub mod proto;
pub mod scan;
pub mod search;
pub mod store;
pub mod types;
pub mod watch;

#[cfg(test)]
mod testing;
