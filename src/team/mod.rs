//! Exchanges memories with the PostgreSQL server of a team.
//!
//! `address` says which server, `password` and `tls` how it is reached, `migrations` keeps its tables, and `server_connection` reads and stores
//! versions of memories. What they mean for the memories here, the daemon decides.

mod address;
mod migrations;
pub mod password;
mod server_connection;
mod tls;

pub use self::address::Address;
pub use self::server_connection::{About, Delivered, Mark, Member, Page, Server, Stopped, Version};

/// Why the server did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TeamError {
    /// What happened, where, and why. No password is in it.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl TeamError {
    /// An error that says what happened; what to do is not known.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// Says of which server it is.
    fn of(self, address: &str) -> Self {
        Self { message: format!("{address}: {}", self.message), ..self }
    }

    /// Says what to do.
    pub fn hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}
