//! Splits the bytes of a connection into lines, with limits.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout_at};

use crate::proto::{RpcError, code};

const MAX_LINE_BYTES: usize = 8 << 20;
/// How long a line may take from its first byte to its last.
const PARTIAL_LINE: Duration = Duration::from_secs(30);

/// Lines of a peer, each within the limits of size and time.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that hold no line end.
    searched: usize,
    /// When `buffer` was begun with the line that is in it.
    since: Instant,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Takes what the peer sends.
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), searched: 0, since: Instant::now() }
    }

    /// Returns the next line without its end; `None` at the end of the stream. Safe to drop and call again.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, RpcError> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                (self.searched, self.since) = (0, Instant::now());
                line.pop();
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            let too = |what: String| RpcError::new(code::INVALID_REQUEST, what);
            if self.buffer.len() > MAX_LINE_BYTES {
                return Err(too(format!("a line over {MAX_LINE_BYTES} bytes")));
            }
            let n_read = if self.buffer.is_empty() {
                let n_read = self.reader.read_buf(&mut self.buffer).await;
                self.since = Instant::now();
                n_read
            } else {
                let read = self.reader.read_buf(&mut self.buffer);
                let read = timeout_at(self.since + PARTIAL_LINE, read).await;
                read.map_err(|_| too(format!("no line end within {} s", PARTIAL_LINE.as_secs())))?
            };
            match n_read {
                Ok(0) | Err(_) if self.buffer.is_empty() => return Ok(None),
                Ok(0) | Err(_) => {
                    self.searched = 0;
                    return Ok(Some(std::mem::take(&mut self.buffer)));
                }
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_cut_however_they_arrive() {
        let (mut client, server) = tokio::io::duplex(4);
        let sending = tokio::spawn(async move { client.write_all(b"one\n\ntwo\nthr").await });
        let mut lines = Lines::new(server);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(String::from_utf8(line).unwrap());
        }
        sending.await.unwrap().unwrap();
        assert_eq!(seen, ["one", "", "two", "thr"]);
    }
}
