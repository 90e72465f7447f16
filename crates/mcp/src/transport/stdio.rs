//! Moves messages between the protocol and the streams of this process, one JSON object a line.
//!
//! Two threads do blocking reads and writes. A blocked thread does not prevent the process from ending.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot, watch};

use super::hang_up;
use super::in_flight::InFlightRequests;
use super::outgoing_message::{OutgoingMessage, encode_line};
use super::reader::MessageReader;

/// Largest number of messages that wait to be served, and of messages that wait to be written. With more, the sender waits.
const MAX_QUEUED_MESSAGES: usize = 64;

/// Both ends of the connection.
pub(crate) struct StdioTransport {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<OutgoingMessage>,
    in_flight: Arc<InFlightRequests>,
}

/// A signal that the input has ended and everything was read.
#[derive(Clone, Debug)]
pub(crate) struct InputEnd(watch::Receiver<()>);

impl InputEnd {
    /// Waits for the end of the input.
    pub(crate) async fn wait_until_reached(&self) {
        let _ = self.0.clone().wait_for(|()| false).await; // fails when the reading thread ends
    }
}

/// Signals for the ends of the two streams.
pub(crate) struct StreamEndSignals {
    pub(crate) input: InputEnd,
    /// Receives the reason once nothing can be written any more.
    pub(crate) output: mpsc::Receiver<io::Error>,
}

impl StdioTransport {
    /// Takes stdin and stdout for the protocol. On Unix, other code that prints then writes to stderr, and other code that reads
    /// finds an empty stdin.
    ///
    /// # Errors
    /// When the streams cannot be duplicated, or no thread can be started.
    pub(crate) fn open() -> io::Result<(Self, StreamEndSignals)> {
        let (input, output) = take_streams()?;
        let (outgoing, lines) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let (forward, incoming) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let (close, closed) = mpsc::channel(1);
        let (is_open, input_end) = watch::channel(());
        let (in_flight, n_steps) = (Arc::new(InFlightRequests::default()), Arc::new(AtomicU64::new(0)));

        let close_by_client = close.clone();
        hang_up::watch_for_hang_up(&input, &output, n_steps.clone(), move || {
            // Fails if the writing thread has already sent an error.
            let _ = close_by_client.try_send(io::ErrorKind::BrokenPipe.into());
        })?;
        let replies = outgoing.clone();
        let reader = MessageReader { forward, replies, in_flight: in_flight.clone(), _is_open: is_open };
        thread::Builder::new()
            .name("mcp-read".to_owned())
            .spawn(move || reader.read_messages(BufReader::new(input)))?;
        let for_writer = in_flight.clone();
        thread::Builder::new()
            .name("mcp-write".to_owned())
            .spawn(move || write_messages(output, lines, &close, &for_writer, &n_steps))?;
        let ends = StreamEndSignals { input: InputEnd(input_end), output: closed };
        Ok((Self { incoming, outgoing, in_flight }, ends))
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        // From now on a cancellation comes too late.
        if let Some(id) = &answers {
            self.in_flight.mark_answered(id);
        }
        let (line, outgoing) = (encode_line(&message), self.outgoing.clone());
        async move {
            let (written, result) = oneshot::channel();
            let message = OutgoingMessage { line: line?, answered_id: answers, written: Some(written) };
            outgoing.send(message).await.map_err(|_| closed_error())?;
            result.await.map_err(|_| closed_error())?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the error for a message that cannot be written, because the writing thread has ended.
fn closed_error() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// Writes messages until there are no more or a write fails; then `close` gets the error. Counts the beginnings and the ends of
/// writes in `n_steps`.
fn write_messages(
    mut output: impl Write,
    mut messages: mpsc::Receiver<OutgoingMessage>,
    close: &mpsc::Sender<io::Error>,
    in_flight: &InFlightRequests,
    n_steps: &AtomicU64,
) {
    while let Some(OutgoingMessage { line, answered_id: answers, written }) = messages.blocking_recv() {
        // The request ends before the write, because a client may reuse the id as soon as it has read the answer.
        answers.inspect(|id| in_flight.remove_request(id));
        n_steps.fetch_add(1, Ordering::Relaxed);
        let result = output.write_all(&line).and_then(|()| output.flush());
        n_steps.fetch_add(1, Ordering::Relaxed);
        let failure = result.as_ref().err().map(io::Error::kind);
        if let Some(kind) = failure {
            let _ = close.try_send(kind.into()); // fails if the other thread has already sent an error
        }
        // The answer to a malformed line has no receiver for this result.
        written.map(|written| written.send(result));
        if failure.is_some() {
            return;
        }
    }
}

/// Returns duplicates of stdin and stdout, and then redirects stdin to `/dev/null` and stdout to stderr.
#[cfg(unix)]
fn take_streams() -> io::Result<(File, File)> {
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((File::from(input), File::from(output)))
}

/// Returns duplicates of stdin and stdout. Nothing else in the process uses these streams, because verbs return their output.
#[cfg(windows)]
fn take_streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle;
    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    Ok((File::from(input), File::from(output)))
}
