//! Does the whole behave as its users are told?

mod cli;
mod client;
mod fake;
mod sandbox;
mod tidy;
