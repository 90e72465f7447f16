//! Who speaks on the socket, and within which limits?
//!
//! JSON-RPC 2.0, an object a line. Replies may come out of order; a peer that has closed its sending side
//! still gets its answers. The numbers are those of design 11.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dispatch;
use super::listen::Listener;
use super::shared::Shared;
use crate::proto::{ErrorData, Request, Response, RpcError, code};

const MAX_CONNECTIONS: usize = 1_024;
const MAX_IN_FLIGHT: usize = 64;
const MAX_LINE_BYTES: usize = 8 << 20;
const MAX_DEPTH: usize = 64;
const PARTIAL_LINE: Duration = Duration::from_secs(30);
const UNREAD: Duration = Duration::from_secs(10);
const DRAIN: Duration = Duration::from_secs(5);
const RETRY_AFTER_MS: u64 = 100;

/// Accepts connections until `stop` says so, then lets those open finish what they have asked.
pub(super) async fn serve(shared: Arc<Shared>, mut listener: Listener, mut stop: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok(stream) => {
                let full = shared.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS;
                let (shared, stop) = (Arc::clone(&shared), stop.clone());
                connections.spawn(async move {
                    let (reader, writer) = tokio::io::split(stream);
                    if full {
                        turn_away(writer).await;
                    } else {
                        converse(&shared, reader, writer, stop).await;
                    }
                    shared.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
            Err(error) => {
                // Out of descriptors, most likely: closing connections will free some.
                tracing::warn!(%error, "cannot accept");
                tokio::time::sleep(Duration::from_millis(RETRY_AFTER_MS)).await;
            }
        }
    }
    drop(listener);
    let _ = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
}

async fn turn_away(mut writer: impl AsyncWrite + Unpin) {
    let busy = failure(Value::Null, busy(format!("{MAX_CONNECTIONS} connections are open")));
    let _ = timeout(UNREAD, writer.write_all(&line_of(&busy))).await; // nothing more can be said
}

fn busy(message: String) -> RpcError {
    let data = ErrorData { hint: None, retry_after_ms: Some(RETRY_AFTER_MS) };
    RpcError { code: code::BUSY, message, data: Some(data) }
}

async fn converse<R, W>(shared: &Arc<Shared>, reader: R, writer: W, mut stop: watch::Receiver<bool>)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (replies, queue) = mpsc::channel::<Response>(MAX_IN_FLIGHT);
    let mut writing = tokio::spawn(write_replies(writer, queue));
    let in_flight = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
    let mut lines = Lines::new(reader);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            _ = stop.wait_for(|stop| *stop) => break,
            _ = &mut writing => return,
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(why) => {
                let _ = replies.send(failure(Value::Null, why)).await;
                break;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match parse(&line) {
            Ok(request) => request,
            Err(response) => {
                let _ = replies.send(*response).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&in_flight).try_acquire_owned() else {
            let why = busy(format!("{MAX_IN_FLIGHT} requests of this connection are under way"));
            let _ = replies.send(failure(request.id.unwrap_or_default(), why)).await;
            continue;
        };
        let (shared, replies) = (Arc::clone(shared), replies.clone());
        tokio::spawn(async move {
            if let Some(response) = respond(shared, request).await {
                let _ = replies.send(response).await; // the peer may have gone
            }
            drop(permit);
        });
    }
    drop(replies);
    let _ = writing.await;
}

/// Runs one request; one that panics becomes an error. A notification has no response.
async fn respond(shared: Arc<Shared>, request: Request) -> Option<Response> {
    let Request { id, method, params, .. } = request;
    let name = method.clone();
    let outcome = tokio::spawn(async move { dispatch::call(&shared, &method, params).await }).await;
    let id = id?;
    Some(match outcome {
        Ok(Ok(result)) => Response { jsonrpc: "2.0".to_owned(), id, result: Some(result), error: None },
        Ok(Err(error)) => failure(id, error),
        Err(panic) => {
            tracing::error!(method = name, %panic, "a request panicked");
            let message = format!("{name}: an internal error, noted in the log; the daemon goes on");
            failure(id, RpcError { code: code::INTERNAL, message, data: None })
        }
    })
}

async fn write_replies(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Response>) {
    while let Some(response) = queue.recv().await {
        let line = line_of(&response);
        if !matches!(timeout(UNREAD, writer.write_all(&line)).await, Ok(Ok(()))) {
            return; // the peer does not read, or is gone
        }
    }
    let _ = writer.shutdown().await;
}

fn line_of(response: &Response) -> Vec<u8> {
    let mut line = serde_json::to_vec(response).expect("a response has string keys only");
    line.push(b'\n');
    line
}

fn failure(id: Value, error: RpcError) -> Response {
    Response { jsonrpc: "2.0".to_owned(), id, result: None, error: Some(error) }
}

fn parse(line: &[u8]) -> Result<Request, Box<Response>> {
    let bad = |code, message: String| Box::new(failure(Value::Null, RpcError { code, message, data: None }));
    let text = std::str::from_utf8(line).map_err(|error| bad(code::PARSE, format!("not UTF-8: {error}")))?;
    if depth(text) > MAX_DEPTH {
        return Err(bad(code::PARSE, format!("nested deeper than {MAX_DEPTH}")));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| bad(code::PARSE, format!("not JSON: {error}")))?;
    // An id of null is one, and wants its reply; serde would take it for none.
    let id = value.get("id").cloned();
    match serde_json::from_value::<Request>(value) {
        Ok(request) => Ok(Request { id, ..request }),
        Err(error) => {
            let message = format!("not a request: {error}");
            Err(Box::new(failure(
                id.unwrap_or_default(),
                RpcError { code: code::INVALID_REQUEST, message, data: None },
            )))
        }
    }
}

/// Returns how deep brackets nest, those inside strings left out.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Lines of a peer, each within the limits of size and time.
struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that hold no line end.
    searched: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), searched: 0 }
    }

    /// Returns the next line without its end; `None` at the end of the stream. Safe to drop and call again.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, RpcError> {
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                self.searched = 0;
                line.pop();
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            let too = |what: String| RpcError { code: code::INVALID_REQUEST, message: what, data: None };
            if self.buffer.len() > MAX_LINE_BYTES {
                return Err(too(format!("a line over {MAX_LINE_BYTES} bytes")));
            }
            let n_read = if self.buffer.is_empty() {
                self.reader.read_buf(&mut self.buffer).await
            } else {
                let read = timeout(PARTIAL_LINE, self.reader.read_buf(&mut self.buffer)).await;
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
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        for (text, expected) in [("{}", 1), ("[[1],[2]]", 2), (r#"{"a":"[[[\"[["}"#, 1), ("]]]", 0), ("", 0)]
        {
            assert_eq!(depth(text), expected, "{text}");
        }
    }

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
