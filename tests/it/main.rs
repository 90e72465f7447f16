//! Does the whole behave, seen from outside?

#![allow(missing_docs, reason = "tests are read, not called")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic where it is")]

mod cli;
mod client;
mod fake;
mod sandbox;
mod scan;
mod tidy;
mod whole;
