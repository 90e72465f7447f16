//! Holds a message that waits to be written.

use rmcp::model::{RequestId, ServerJsonRpcMessage};
use std::io::{self};
use tokio::sync::oneshot;

/// A message to be written.
pub(crate) struct OutgoingMessage {
    pub(super) line: Vec<u8>,
    /// The request in flight that it answers.
    pub(super) answers: Option<RequestId>,
    /// Wants to know that it is written.
    pub(super) written: Option<oneshot::Sender<io::Result<()>>>,
}

impl OutgoingMessage {
    /// Returns an answer to what never was in flight.
    ///
    /// # Errors
    /// When it has no form in JSON.
    pub(crate) fn new_refusal(message: &ServerJsonRpcMessage) -> io::Result<Self> {
        Ok(Self { line: encode_line(message)?, answers: None, written: None })
    }
}

/// Returns a message as a line of JSON.
pub(super) fn encode_line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
