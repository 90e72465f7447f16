//! Moves messages between the protocol and the streams of this process, one JSON object a line.
//!
//! The SDK's own transport drops lines that are not JSON, and answers a malformed request without its id, for which a client
//! waits. Here every line that cannot be served is answered. Two threads do blocking reads and writes: a blocked one does
//! not keep the process from ending.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// Longest line that is read, bytes; the daemon takes 8 MiB.
const MAX_LINE: usize = 16 << 20;

/// Messages that wait to be served. When there are more, the client waits.
const MOST_WAITING: usize = 64;

/// Both ends of the connection.
pub(super) struct Stdio {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: Outgoing,
}

/// The queue of the writing thread: each line, and who wants to know that it is written.
type Outgoing = mpsc::UnboundedSender<(Vec<u8>, Option<oneshot::Sender<io::Result<()>>>)>;

impl Stdio {
    /// Takes stdin and stdout for the protocol: what else prints goes to stderr, and what else reads finds nothing.
    ///
    /// # Errors
    /// When the streams cannot be taken, or no thread can be started.
    pub(super) fn open() -> io::Result<Self> {
        let (input, output) = take_streams()?;
        let (outgoing, mut lines) = mpsc::unbounded_channel();
        let (forward, incoming) = mpsc::channel(MOST_WAITING);
        let replies: Outgoing = outgoing.clone();
        thread::Builder::new().name("mcp-read".to_owned()).spawn(move || {
            read(BufReader::new(input), &forward, &replies);
        })?;
        thread::Builder::new().name("mcp-write".to_owned()).spawn(move || {
            let mut output = output;
            while let Some((line, written)) = lines.blocking_recv() {
                let result = output.write_all(&line).and_then(|()| output.flush());
                // Nobody asks whether the answer to a malformed line was written.
                written.map(|written| written.send(result));
            }
        })?;
        Ok(Self { incoming, outgoing })
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let (written, result) = oneshot::channel();
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            outgoing.send((line(&message)?, Some(written))).map_err(|_| closed())?;
            result.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads lines until the input ends or nobody takes them.
fn read(mut input: impl BufRead, forward: &mpsc::Sender<ClientJsonRpcMessage>, replies: &Outgoing) {
    let mut has_begun = false;
    let mut bytes = Vec::new();
    loop {
        let decoded = match next_line(&mut input, &mut bytes) {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::Whole) => decode(&bytes),
            Ok(Line::TooLong) => {
                let message = format!("the message is longer than {} MiB", MAX_LINE >> 20);
                Decoded::Refused(ErrorData::invalid_request(message, None), None)
            }
        };
        match decoded {
            Decoded::Nothing => {}
            Decoded::Refused(error, id) => {
                let Ok(line) = line(&ServerJsonRpcMessage::error(error, id)) else { continue };
                let _ = replies.send((line, None)); // the writing thread ends with the process
            }
            // Nothing was asked of the client, and before the beginning the SDK would end the connection.
            Decoded::Message(message)
                if matches!(*message, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_)) => {
            }
            Decoded::Message(message) => {
                // The SDK ends a connection that begins with a notification, although there is nothing to answer.
                has_begun |= matches!(*message, ClientJsonRpcMessage::Request(_));
                if has_begun && forward.blocking_send(*message).is_err() {
                    return;
                }
            }
        }
    }
}

/// How a line ended.
enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads a line without its end. The last one needs none.
fn next_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Line> {
    bytes.clear();
    let mut is_too_long = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        if available.is_empty() {
            let is_whole = !bytes.is_empty() && !is_too_long;
            return Ok(if is_whole { Line::Whole } else { Line::End });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let n_read = end.map_or(available.len(), |at| at + 1);
        is_too_long |= bytes.len() + n_read > MAX_LINE;
        if is_too_long {
            bytes.clear();
        } else {
            bytes.extend_from_slice(&available[..end.unwrap_or(n_read)]);
        }
        input.consume(n_read);
        if end.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

/// What a line means.
#[derive(Debug)]
enum Decoded {
    /// To be served.
    Message(Box<ClientJsonRpcMessage>),
    /// To be answered with an error; the id if it could be read.
    Refused(ErrorData, Option<RequestId>),
    /// A blank line, or a notification that nobody knows.
    Nothing,
}

fn decode(line: &[u8]) -> Decoded {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Decoded::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Decoded::Message(Box::new(message));
    }
    let refused =
        |message: &str, id| Decoded::Refused(ErrorData::invalid_request(message.to_owned(), None), id);
    match serde_json::from_slice::<Value>(line) {
        Err(error) => Decoded::Refused(ErrorData::parse_error(format!("not JSON: {error}"), None), None),
        Ok(Value::Array(_)) => refused("batches are not served: send one message a line", None),
        Ok(Value::Object(message)) => {
            let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            match message.get("method") {
                Some(Value::String(_)) if !message.contains_key("id") => Decoded::Nothing,
                Some(Value::String(_)) => {
                    refused("not a request: id is a number or a string, params an object", id)
                }
                Some(_) => refused("method: a string is needed", id),
                None => refused("method is missing", id),
            }
        }
        Ok(_) => refused("not a JSON object", None),
    }
}

/// Returns copies of stdin and stdout, and puts nothing in the place of one and stderr in that of the other.
#[cfg(unix)]
fn take_streams() -> io::Result<(File, File)> {
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((File::from(input), File::from(output)))
}

/// Returns stdin and stdout. Nothing else in the process uses them: verbs keep what they print.
#[cfg(windows)]
fn take_streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle;
    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    Ok((File::from(input), File::from(output)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match decode(line.as_bytes()) {
            Decoded::Message(_) => "message".to_owned(),
            Decoded::Nothing => "nothing".to_owned(),
            Decoded::Refused(error, id) => {
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
            ("[]", "-32600 null batches are not served: send one message a line"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "-32600 7 method is missing"),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, "-32600 \"a\" method: a string is needed"),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out() {
        let long = "x".repeat(MAX_LINE);
        let text = format!("a\n{long}\nb\n{}\nc", &long[1..]);
        let mut input = BufReader::new(text.as_bytes());
        let mut bytes = Vec::new();
        let mut seen = Vec::new();
        loop {
            match next_line(&mut input, &mut bytes).expect("memory can be read") {
                Line::End => break,
                Line::TooLong => seen.push("too long".to_owned()),
                Line::Whole => seen.push(bytes.len().to_string()),
            }
        }
        assert_eq!(seen, ["1", "too long", "1", &(MAX_LINE - 1).to_string(), "1"]);
    }
}
