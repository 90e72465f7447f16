//! Subscribes to events of the daemon, and reads them.

use memod_proto::{SubscribeParams, SubscribeResult};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Client, ClientError};

/// A line from the daemon that is not the reply to a call.
#[derive(Deserialize)]
struct ServerNotification {
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
}

impl Client {
    /// Subscribes to events, which [`Self::next_event`] then returns.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn subscribe(&mut self, params: &SubscribeParams) -> Result<SubscribeResult, ClientError> {
        self.call("subscribe", params)
    }

    /// Waits for the next event, without a time limit, and returns its params as the daemon sent them.
    ///
    /// # Errors
    /// When the connection ends ([`ClientError::ConnectionClosed`]); a new client must subscribe again.
    pub fn next_event(&mut self) -> Result<Box<RawValue>, ClientError> {
        loop {
            let line =
                self.connection.read_line_without_limit().map_err(|error| self.to_client_error(&error))?;
            let ServerNotification { method, params } = serde_json::from_slice(&line)
                .map_err(|error| self.invalid_answer_error(&super::describe_json_error(&error)))?;
            if let Some(params) = params.filter(|_| method.is_some_and(|method| method == "event")) {
                return Ok(params);
            }
        }
    }
}
