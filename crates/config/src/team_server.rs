//! Reads the address of a team's server, and finds its password.

mod address;
pub mod password;

pub use self::address::Address;

/// Why the server did not do what it was asked for, or cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TeamError {
    /// What happened, where, and why. No password is in it.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl TeamError {
    /// Creates an error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// Adds the server's address to the message.
    #[must_use]
    pub fn of(self, address: &str) -> Self {
        Self { message: format!("{address}: {}", self.message), ..self }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}
