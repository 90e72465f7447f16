//! Reads messages from a client, one JSON object a line.
//!
//! The SDK's own transport ignores lines that are not JSON, and answers a malformed request without its id, so that a client
//! waits forever. This reader answers every line that cannot be served.

use std::io::{self, BufRead};
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::in_flight::InFlightRequests;
use super::outgoing_message::OutgoingMessage;

/// Largest size of a line, bytes. The daemon accepts 8 MiB.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Reads messages on a thread, and passes them to the server.
pub(crate) struct MessageReader {
    pub(crate) forward: mpsc::Sender<ClientJsonRpcMessage>,
    pub(crate) replies: mpsc::Sender<OutgoingMessage>,
    pub(crate) in_flight: Arc<InFlightRequests>,
    /// Signals the end of the input when it is dropped.
    pub(crate) _is_open: watch::Sender<()>,
}

impl MessageReader {
    /// Reads lines until the input ends or the server no longer takes messages.
    pub(crate) fn read_messages(&self, mut input: impl BufRead) {
        let mut has_begun = false;
        let mut bytes = Vec::new();
        loop {
            let decoded = match read_line(&mut input, &mut bytes) {
                Ok(LineRead::End) | Err(_) => return,
                Ok(LineRead::Whole) => decode_line(&bytes),
                Ok(LineRead::TooLong) => {
                    let message = format!("the message is longer than {} MiB", MAX_LINE_BYTES >> 20);
                    DecodedLine::Refused(ErrorData::invalid_request(message, None), None)
                }
            };
            let is_taken = match decoded {
                DecodedLine::Ignored => true,
                DecodedLine::Refused(error, id) => self.send_refusal(error, id),
                DecodedLine::Message(message) => self.pass_message(*message, &mut has_begun),
            };
            if !is_taken {
                return;
            }
        }
    }

    /// Passes a message to the server; returns whether the server takes more.
    fn pass_message(&self, message: ClientJsonRpcMessage, has_begun: &mut bool) -> bool {
        match &message {
            JsonRpcMessage::Request(request) => {
                *has_begun |= shows_protocol_generation(&request.request);
                if !self.in_flight.begin_request(&request.id) {
                    let why = format!("id {}: a request with this id has no answer yet", request.id);
                    return self
                        .send_refusal(ErrorData::invalid_request(why, None), Some(request.id.clone()));
                }
            }
            // The SDK would end a connection whose first message is a notification, so such messages are ignored.
            JsonRpcMessage::Notification(_) if !*has_begun => return true,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    cancelled.params.request_id.as_ref().inspect(|id| self.in_flight.cancel_request(id));
                }
            }
            // This server sends no requests, so it expects no responses; an early one would make the SDK end the connection.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return true,
        }
        self.forward.blocking_send(message).is_ok()
    }

    /// Answers a line that cannot be served with an error; returns whether the answer can still be written.
    fn send_refusal(&self, error: ErrorData, id: Option<RequestId>) -> bool {
        let refusal = OutgoingMessage::new_refusal(&ServerJsonRpcMessage::error(error, id));
        refusal.map_or(true, |refusal| self.replies.blocking_send(refusal).is_ok())
    }
}

/// Returns whether a request shows which generation of the protocol the client speaks. Probing requests do not, and neither does a
/// request that the SDK refuses for its version.
fn shows_protocol_generation(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => {
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// The result of reading a line.
enum LineRead {
    /// The line was read.
    Whole,
    /// The line is longer than [`MAX_LINE_BYTES`], and was skipped.
    TooLong,
    /// The input has ended.
    End,
}

/// Reads a line into `bytes`, without its line feed, which the last line may lack.
fn read_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<LineRead> {
    bytes.clear();
    let mut is_too_long = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            let is_whole = !bytes.is_empty() && !is_too_long;
            return Ok(if is_whole { LineRead::Whole } else { LineRead::End });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let n_read = end.map_or(available.len(), |at| at + 1);
        is_too_long |= bytes.len() + n_read > MAX_LINE_BYTES;
        if is_too_long {
            bytes.clear();
        } else {
            bytes.extend_from_slice(&available[..end.unwrap_or(n_read)]);
        }
        input.consume(n_read);
        if end.is_some() {
            return Ok(if is_too_long { LineRead::TooLong } else { LineRead::Whole });
        }
    }
}

/// A line after decoding.
#[derive(Debug)]
enum DecodedLine {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// A line to answer with this error, and its id if that could be read.
    Refused(ErrorData, Option<RequestId>),
    /// A blank line, or an unknown notification, to be ignored.
    Ignored,
}

/// Decodes a line.
fn decode_line(line: &[u8]) -> DecodedLine {
    let line = line.trim_ascii();
    if line.is_empty() {
        return DecodedLine::Ignored;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return DecodedLine::Message(Box::new(message));
    }
    match serde_json::from_slice::<Value>(line) {
        Err(error) => DecodedLine::Refused(ErrorData::parse_error(format!("not JSON: {error}"), None), None),
        Ok(Value::Array(_)) => refuse_line("batches are not supported: send one message per line", None),
        Ok(Value::Object(message)) => {
            let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            match message.get("method") {
                Some(Value::String(_)) if !message.contains_key("id") => DecodedLine::Ignored,
                Some(Value::String(_)) => {
                    refuse_line("not a request: id is a number or a string, params an object", id)
                }
                Some(_) => refuse_line("method: a string is needed", id),
                None => refuse_line("method is missing", id),
            }
        }
        Ok(_) => refuse_line("not a JSON object", None),
    }
}

/// Returns the refusal of a line that is JSON but not a message.
fn refuse_line(message: &str, id: Option<RequestId>) -> DecodedLine {
    DecodedLine::Refused(ErrorData::invalid_request(message.to_owned(), None), id)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn shown(line: &str) -> String {
        match decode_line(line.as_bytes()) {
            DecodedLine::Message(_) => "message".to_owned(),
            DecodedLine::Ignored => "nothing".to_owned(),
            DecodedLine::Refused(error, id) => {
                format!(
                    "{} {} {}",
                    error.code.0,
                    serde_json::to_value(id).expect("an id is JSON"),
                    error.message
                )
            }
        }
    }

    #[test]
    fn every_line_has_an_answer() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"nonsense","params":{}}"#, "message"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "message"),
            ("  \r", "nothing"),
            ("{", "-32700 null not JSON: EOF while parsing an object at line 1 column 1"),
            ("\u{1}", "-32700 null not JSON: expected value at line 1 column 1"),
            ("7", "-32600 null not a JSON object"),
            ("[]", "-32600 null batches are not supported: send one message per line"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "-32600 7 method is missing"),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, "-32600 \"a\" method: a string is needed"),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out() {
        let long = "x".repeat(MAX_LINE_BYTES);
        let text = format!("a\n{long}\nb\n{}\nc", &long[1..]);
        let mut input = BufReader::new(text.as_bytes());
        let mut bytes = Vec::new();
        let mut seen = Vec::new();
        loop {
            match read_line(&mut input, &mut bytes).expect("memory can be read") {
                LineRead::End => break,
                LineRead::TooLong => seen.push("too long".to_owned()),
                LineRead::Whole => seen.push(bytes.len().to_string()),
            }
        }
        assert_eq!(seen, ["1", "too long", "1", &(MAX_LINE_BYTES - 1).to_string(), "1"]);
    }
}
