//! Declares a message that waits to be written.

use rmcp::model::{RequestId, ServerJsonRpcMessage};
use std::io::{self};
use tokio::sync::oneshot;

/// A message to be written.
pub(crate) struct OutgoingMessage {
    pub(super) line: Vec<u8>,
    /// Id of the request in flight that the message answers.
    pub(super) answered_id: Option<RequestId>,
    /// Receives the result of writing the message.
    pub(super) written: Option<oneshot::Sender<io::Result<()>>>,
}

impl OutgoingMessage {
    /// Creates an answer to a line that never became a request in flight.
    ///
    /// # Errors
    /// When the message cannot be encoded as JSON.
    pub(crate) fn new_refusal(message: &ServerJsonRpcMessage) -> io::Result<Self> {
        Ok(Self { line: encode_line(message)?, answered_id: None, written: None })
    }
}

/// Encodes a message as a line of JSON, with its line feed.
pub(super) fn encode_line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
