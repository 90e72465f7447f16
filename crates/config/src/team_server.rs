//! Reads the address of a team's server from the settings, and finds the server's password.

mod address;
pub mod password;

pub use self::address::ServerAddress;

/// Why a request to a team's server failed, or cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TeamError {
    /// The failure, its place and its cause, without a password.
    pub message: String,
    /// The remedy for the user.
    pub hint: Option<String>,
}

impl TeamError {
    /// Creates an error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// Prefixes the message with the server's address.
    #[must_use]
    pub fn with_address(self, address: &str) -> Self {
        Self { message: format!("{address}: {}", self.message), ..self }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}
