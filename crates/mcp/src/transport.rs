//! Moves lines between a client and the server.

pub(crate) mod hang_up;
pub(crate) mod in_flight;
mod outgoing_message;
pub(crate) mod reader;
pub(crate) mod stdio;
pub(crate) mod subscribers;
