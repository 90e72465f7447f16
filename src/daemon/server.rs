//! Serves the connections of the socket, within limits.
//!
//! JSON-RPC 2.0, an object a line. Replies may come out of order; a peer that has closed its sending side
//! still gets its answers. The numbers are those of design 11.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::dispatch;
use super::lines::Lines;
use super::listen::Listener;
use super::shared::Shared;
use crate::proto::{MAX_DEPTH, Request, Response, RpcError, code, depth};

const MAX_CONNECTIONS: usize = 1_024;
const MAX_IN_FLIGHT: usize = 64;
/// Requests in work over all connections, beyond one for each: what comes next waits for as many searches, and at 10 ms
/// for each on two cores 64 of them leave two thirds of the second that freshness may take.
const MAX_IN_WORK: usize = 64;
const UNREAD: Duration = Duration::from_secs(10);
const DRAIN: Duration = Duration::from_secs(5);
const RETRY_AFTER_MS: u64 = 100;

/// Accepts connections until `stop` says so, then lets those open finish what they have asked.
pub(super) async fn serve(shared: Arc<Shared>, mut listener: Listener, mut stop: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let in_work = Arc::new(Semaphore::new(MAX_IN_WORK));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok(stream) => {
                let full = shared.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS;
                let (shared, in_work, stop) = (Arc::clone(&shared), Arc::clone(&in_work), stop.clone());
                connections.spawn(async move {
                    let (reader, writer) = tokio::io::split(stream);
                    if full {
                        turn_away(writer).await;
                    } else {
                        converse(&shared, &in_work, reader, writer, stop).await;
                    }
                    shared.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept");
                // Out of descriptors, most likely: a connection that ends frees some, and what else does tells nobody.
                tokio::select! {
                    Some(_) = connections.join_next() => {}
                    () = tokio::time::sleep(Duration::from_millis(RETRY_AFTER_MS)) => {}
                }
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
    RpcError::new(code::BUSY, message).with_retry(RETRY_AFTER_MS)
}

/// Holds the place of a request in its connection until its reply is being written: who does not read is soon
/// not served.
type Reply = (Response, Option<OwnedSemaphorePermit>);

async fn converse<R, W>(
    shared: &Arc<Shared>,
    in_work: &Arc<Semaphore>,
    reader: R,
    writer: W,
    mut stop: watch::Receiver<bool>,
) where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (replies, queue) = mpsc::channel::<Reply>(MAX_IN_FLIGHT);
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
                let _ = replies.send((failure(Value::Null, why), None)).await;
                break;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match parse(&line) {
            Ok(request) => request,
            Err(response) => {
                let _ = replies.send((*response, None)).await;
                continue;
            }
        };
        let (place, work) = match admit(&in_flight, in_work) {
            Ok(admitted) => admitted,
            Err(why) => {
                let _ = replies.send((failure(request.id.unwrap_or_default(), why), None)).await;
                continue;
            }
        };
        let (shared, replies) = (Arc::clone(shared), replies.clone());
        tokio::spawn(async move {
            let response = respond(shared, request).await;
            drop(work);
            if let Some(response) = response {
                let _ = replies.send((response, Some(place))).await; // the peer may have gone
            }
        });
    }
    drop(replies);
    let _ = writing.await;
}

/// Returns the places of a request in its connection and, unless it is the only one there, among all requests.
fn admit(
    in_flight: &Arc<Semaphore>,
    in_work: &Arc<Semaphore>,
) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), RpcError> {
    let is_only = in_flight.available_permits() == MAX_IN_FLIGHT;
    let place = Arc::clone(in_flight).try_acquire_owned();
    let place =
        place.map_err(|_| busy(format!("{MAX_IN_FLIGHT} requests of this connection are under way")))?;
    match Arc::clone(in_work).try_acquire_owned() {
        Ok(work) => Ok((place, Some(work))),
        Err(_) if is_only => Ok((place, None)),
        Err(_) => Err(busy(format!("{MAX_IN_WORK} requests of all connections are under way"))),
    }
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
            failure(id, RpcError::new(code::INTERNAL, message))
        }
    })
}

async fn write_replies(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Reply>) {
    while let Some((response, place)) = queue.recv().await {
        drop(place);
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
    let bad = |code, message: String| Box::new(failure(Value::Null, RpcError::new(code, message)));
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
            Err(Box::new(failure(id.unwrap_or_default(), RpcError::new(code::INVALID_REQUEST, message))))
        }
    }
}
