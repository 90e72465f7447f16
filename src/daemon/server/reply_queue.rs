//! Queues the replies to one peer, with a limit on unread bytes.

use std::sync::Arc;
use std::time::Duration;

use memod_proto::Response;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use memod_engine::errors::busy_error;

/// Maximum number of requests of one connection in progress.
pub(in crate::daemon) const MAX_IN_FLIGHT: usize = 64;
/// Maximum number of bytes in replies that wait for one peer, unless a single reply is longer.
const MAX_UNREAD: usize = 4 << 20;
/// Length up to which a reply fits next to those of all other requests in progress, bytes.
const SHORT_REPLY_BYTES: usize = MAX_UNREAD / MAX_IN_FLIGHT;
/// Time limit for a peer to read one reply.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The queue of replies of one connection.
#[derive(Clone)]
pub(in crate::daemon) struct ReplyQueue {
    queue: mpsc::Sender<QueuedReply>,
    room: Arc<Semaphore>,
}

/// A line, the room that it takes until it has been written, and the place of its request, which is released when writing the
/// line begins. So for a peer that does not read, soon no further requests are served and no further events are queued.
struct QueuedReply {
    line: Vec<u8>,
    _room: OwnedSemaphorePermit,
    place: Option<OwnedSemaphorePermit>,
}

impl ReplyQueue {
    /// Starts the task that writes the replies. The task ends once every clone of the queue is dropped, or when the peer does not
    /// read.
    pub(in crate::daemon) fn start(
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> (Self, JoinHandle<()>) {
        let (queue, waiting) = mpsc::channel(MAX_IN_FLIGHT);
        let replies = Self { queue, room: Arc::new(Semaphore::new(MAX_UNREAD)) };
        (replies, tokio::spawn(write_replies(writer, waiting)))
    }

    /// Queues a reply once there is room for it.
    pub(in crate::daemon) async fn send(&self, response: &Response, place: Option<OwnedSemaphorePermit>) {
        self.queue_when_room(render_reply(response), place).await;
    }

    /// Like [`Self::send`], for a request that may be repeated: a long reply without room becomes `busy`, so that a peer
    /// that does not read cannot fill the memory.
    pub(in crate::daemon) async fn send_if_room(&self, response: Response, place: OwnedSemaphorePermit) {
        let line = render_reply(&response);
        if line.len() <= SHORT_REPLY_BYTES {
            return self.queue_when_room(line, Some(place)).await;
        }
        match Arc::clone(&self.room).try_acquire_many_owned(count_room(&line)) {
            Ok(room) => self.queue_line(line, room, Some(place)).await,
            Err(_) => {
                let why = format!(
                    "this client has not read its earlier replies, and at most {MAX_UNREAD} bytes may wait for it; read them, then ask again"
                );
                self.send(&Response::failure(response.id, busy_error(why)), Some(place)).await;
            }
        }
    }

    /// Queues an event once there is room for it. `place` is released when writing the event begins.
    pub(in crate::daemon) async fn send_event(&self, json: &str, place: OwnedSemaphorePermit) {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{json}}}\n");
        self.queue_when_room(line.into_bytes(), Some(place)).await;
    }

    async fn queue_when_room(&self, line: Vec<u8>, place: Option<OwnedSemaphorePermit>) {
        let room = Arc::clone(&self.room).acquire_many_owned(count_room(&line)).await;
        self.queue_line(line, room.expect("nobody closes the semaphore"), place).await;
    }

    async fn queue_line(
        &self,
        line: Vec<u8>,
        room: OwnedSemaphorePermit,
        place: Option<OwnedSemaphorePermit>,
    ) {
        let _ = self.queue.send(QueuedReply { line, _room: room, place }).await; // the peer may be gone
    }
}

async fn write_replies(mut writer: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<QueuedReply>) {
    while let Some(QueuedReply { line, _room, place }) = waiting.recv().await {
        drop(place);
        if !write_line(&mut writer, &line).await {
            return; // the peer does not read, or is gone
        }
    }
    shut_down(writer).await;
}

/// Writes one reply to a peer that gets no other reply, and closes the connection; ignores failures.
pub(in crate::daemon) async fn send_only_reply(mut writer: impl AsyncWrite + Unpin, response: &Response) {
    if write_line(&mut writer, &render_reply(response)).await {
        shut_down(writer).await;
    }
}

/// Closes the sending side of the connection. A pipe of Windows waits until the peer has read everything.
async fn shut_down(mut writer: impl AsyncWrite + Unpin) {
    let _ = timeout(UNREAD_TIMEOUT, writer.shutdown()).await;
}

/// Writes a line; returns whether the peer read it in time.
async fn write_line(writer: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> bool {
    matches!(timeout(UNREAD_TIMEOUT, writer.write_all(line)).await, Ok(Ok(())))
}

fn render_reply(response: &Response) -> Vec<u8> {
    let mut line = serde_json::to_vec(response).expect("a response has string keys only");
    line.push(b'\n');
    line
}

/// Returns the room that a line takes, bytes; a very long line takes all the room.
fn count_room(line: &[u8]) -> u32 {
    u32::try_from(line.len().min(MAX_UNREAD)).expect("the limit fits")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use memod_proto::code;
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::net::UnixStream;

    use super::*;

    /// Sends replies to a peer that reads only afterwards; returns the numbers of replies that arrived and were refused.
    async fn sent(n_replies: usize, length: usize, only_reads: bool) -> (usize, usize) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (replies, _) = ReplyQueue::start(ours);
        let places = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
        let mut sending = tokio::task::JoinSet::new();
        for id in 0..n_replies {
            let (replies, place) = (replies.clone(), Arc::clone(&places).try_acquire_owned().unwrap());
            let response = Response::success(json!(id), json!("x".repeat(length)));
            let send = async move {
                match only_reads {
                    true => replies.send_if_room(response, place).await,
                    false => replies.send(&response, Some(place)).await,
                }
            };
            sending.spawn(send);
        }
        drop(replies);
        // All tasks have run once no clone is left.
        for _ in 0..4 * MAX_IN_FLIGHT {
            tokio::task::yield_now().await;
        }
        let mut lines = BufReader::new(theirs).lines();
        let (mut n_sent, mut n_refused) = (0, 0);
        while let Some(line) = lines.next_line().await.unwrap() {
            let reply: Value = serde_json::from_str(&line).unwrap();
            match reply["error"]["code"].as_i64() {
                None => n_sent += 1,
                Some(code) => {
                    assert_eq!(code, code::BUSY, "{line}");
                    n_refused += 1;
                }
            }
        }
        (n_sent, n_refused)
    }

    #[tokio::test]
    async fn a_peer_that_does_not_read_is_kept_few_bytes() {
        assert_eq!(sent(64, 1_000, true).await, (64, 0), "short ones all find room");
        assert_eq!(
            sent(64, SHORT_REPLY_BYTES - 100, true).await,
            (64, 0),
            "also as many as may be under way"
        );
        assert_eq!(sent(8, 1 << 20, true).await, (3, 5), "the fourth, with its frame, does not");
        assert_eq!(sent(3, 5 << 20, true).await, (1, 2), "one always does");
        assert_eq!(sent(8, 1 << 20, false).await, (8, 0), "what was changed is told");
    }
}
