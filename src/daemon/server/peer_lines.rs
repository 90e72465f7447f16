//! Splits the bytes of a connection into lines, with limits.

use std::time::Duration;

use memod_engine::errors::busy_error;
use memod_proto::{RpcError, code};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};

use crate::daemon::process::memory_limit;

/// Maximum length of a line, bytes.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Time limit for a line, from its first byte to its last.
const LINE_TIME: Duration = Duration::from_secs(30);
/// Time limits for reading the rest of a rejected line: since its last byte, and in all.
const REST_TIME: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// Reads the lines of a peer, within limits of size and time.
pub(in crate::daemon) struct PeerLines<R> {
    reader: BufReader<R>,
    line_time: Duration,
    /// Bytes of the current line so far.
    line: Vec<u8>,
    /// Deadline of the current line; `None` before its first byte.
    deadline: Option<Instant>,
}

impl<R: AsyncRead + Unpin> PeerLines<R> {
    /// Wraps the stream of a peer.
    pub(in crate::daemon) fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), line_time: LINE_TIME, line: Vec::new(), deadline: None }
    }

    /// Returns the next line without its line break; `None` at the end of the stream. Cancel safe.
    pub(in crate::daemon) async fn next(&mut self) -> Result<Option<Vec<u8>>, RpcError> {
        let deadline = match self.deadline {
            Some(deadline) => deadline,
            // There is no time limit between two lines.
            None if self.reader.fill_buf().await.map_or(true, <[u8]>::is_empty) => return Ok(None),
            None => *self.deadline.insert(Instant::now() + self.line_time),
        };
        timeout_at(deadline, self.read_line()).await.map_err(|_| {
            invalid_line_error(format!("no line end within {} s", self.line_time.as_secs()))
        })??;
        self.deadline = None;
        let mut line = std::mem::take(&mut self.line);
        if line.pop_if(|last| *last == b'\n').is_none() && line.len() > MAX_LINE_BYTES {
            return Err(invalid_line_error(format!("a line over {MAX_LINE_BYTES} bytes")));
        }
        Ok(Some(line))
    }

    /// Reads until the line is complete, which a line break, the end of the stream or an error of the stream ends. Cancel safe.
    async fn read_line(&mut self) -> Result<(), RpcError> {
        while let Ok(bytes) = self.reader.fill_buf().await {
            let line_end = bytes.iter().position(|byte| *byte == b'\n');
            let room = MAX_LINE_BYTES + 1 - self.line.len();
            let n_bytes = line_end.map_or(bytes.len(), |at| at + 1).min(room);
            if let Err(limit) = memory_limit::reserve_buffer(&mut self.line, n_bytes) {
                self.line = Vec::new();
                let error = busy_error(format!("not enough memory for such a long line{limit}"));
                return Err(error.with_hint("raise the limit, or send less at a time"));
            }
            self.line.extend_from_slice(&bytes[..n_bytes]);
            self.reader.consume(n_bytes);
            if n_bytes == 0 || line_end.is_some() || n_bytes == room {
                break;
            }
        }
        Ok(())
    }

    /// Reads and drops the rest of a rejected line for a limited time, because a peer that is still writing does not read the
    /// error.
    pub(in crate::daemon) async fn drop_rest(&mut self) {
        let (pause, at_most) = REST_TIME;
        let end = Instant::now() + at_most;
        while Instant::now() < end {
            match timeout_at(Instant::now() + pause, self.reader.fill_buf()).await {
                Ok(Ok(bytes)) if !bytes.is_empty() => {
                    let n_bytes = bytes.len();
                    self.reader.consume(n_bytes);
                }
                _ => return,
            }
        }
    }
}

fn invalid_line_error(message: String) -> RpcError {
    RpcError::new(code::INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_cut_however_they_arrive() {
        let (mut client, server) = tokio::io::duplex(4);
        let sending = tokio::spawn(async move { client.write_all(b"one\n\ntwo\nthr").await });
        let mut lines = PeerLines::new(server);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(String::from_utf8(line).unwrap());
        }
        sending.await.unwrap().unwrap();
        assert_eq!(seen, ["one", "", "two", "thr"]);
    }

    #[tokio::test]
    async fn a_line_that_only_trickles_is_given_up() {
        let (mut client, server) = tokio::io::duplex(4);
        let trickling = tokio::spawn(async move { while client.write_all(b"a").await.is_ok() {} });
        let mut lines = PeerLines { line_time: Duration::from_millis(20), ..PeerLines::new(server) };
        let error = lines.next().await.unwrap_err();
        assert!(error.message.starts_with("no line end within"), "{error}");
        drop(lines);
        trickling.await.unwrap();
    }

    #[tokio::test]
    async fn a_line_is_not_lost_when_nobody_waits_for_its_end() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut lines = PeerLines::new(server);
        client.write_all(b"on").await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(1), lines.next()).await.is_err());
        client.write_all(b"e\ntwo\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(lines.next().await.unwrap().as_deref(), Some(&b"two"[..]));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_given_up() {
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let sending = tokio::spawn(async move {
            let part = vec![b'a'; 1 << 16];
            while client.write_all(&part).await.is_ok() {}
        });
        let mut lines = PeerLines::new(server);
        let error = lines.next().await.unwrap_err();
        assert_eq!(error.message, format!("a line over {MAX_LINE_BYTES} bytes"));
        drop(lines);
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn the_rest_of_a_line_is_read_to_its_end() {
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let mut lines = PeerLines::new(server);
        let sending = async move { client.write_all(&vec![b'a'; MAX_LINE_BYTES + (1 << 20)]).await };
        let dropping = async {
            lines.next().await.unwrap_err();
            lines.drop_rest().await;
        };
        let (sent, ()) = tokio::join!(sending, dropping);
        sent.unwrap();
    }
}
