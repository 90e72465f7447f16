//! Serves the connections of the socket, within limits of their number and of requests.
//!
//! The protocol is JSON-RPC 2.0 with one object per line. Replies may come out of order, and a peer that has closed its
//! sending side still gets its answers. The limits keep a client from taking the memory or the descriptors of others.

pub(super) mod peer_lines;
pub(super) mod reply_queue;
pub(super) mod socket_listener;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use memod_base::types::parse_with_exact_metadata;
use memod_engine::errors::busy_error;
use memod_engine::events::subscriptions::Subscription;
use memod_proto::{MAX_JSON_DEPTH, Method, Request, Response, RpcError, code, max_nesting_depth};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::daemon::dispatch;
use crate::daemon::memories;
use crate::daemon::process::descriptors;
use crate::daemon::request::request_context::RequestOrigin;
use crate::daemon::server::peer_lines::PeerLines;
use crate::daemon::server::reply_queue::{MAX_IN_FLIGHT, ReplyQueue};
use crate::daemon::server::socket_listener::SocketListener;
use crate::daemon::shared::Shared;
use crate::daemon::shared::client_connection::ClientConnection;
use crate::daemon::web::HttpServer;

/// The method whose answer is followed by events.
const SUBSCRIBE: &str = "subscribe";
/// Maximum number of requests in progress on all connections, where the only request of a connection does not count. A new request
/// waits for as many searches: at 10 ms each on two cores, 64 of them leave two thirds of the second that freshness may take.
const MAX_IN_WORK: usize = 64;
/// Longest wait for running requests when the daemon stops. A client sends a request without an answer again, to the next daemon.
const DRAIN: Duration = Duration::from_secs(5);

/// Accepts connections until the daemon is stopping, then lets running requests finish. Returns the time at which the daemon began
/// to stop.
pub(super) async fn serve_connections(shared: Arc<Shared>, mut listener: SocketListener) -> Instant {
    let mut stopping = shared.stopping.subscribe();
    let mut connections = JoinSet::new();
    let in_work = Arc::new(Semaphore::new(MAX_IN_WORK));
    let web = Arc::new(HttpServer::new(&shared, &in_work));
    let max_connections = descriptors::max_connections();
    loop {
        // A daemon that is stopping must not accept a client that the next one should serve.
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|is_stopping| *is_stopping) => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                // Besides this loop, only the HTTP API adds connections, at most a quarter of the maximum.
                if shared.engine.connections.load(Ordering::SeqCst) >= max_connections {
                    connections.spawn(turn_away(writer, max_connections));
                    continue;
                }
                let (in_work, web) = (Arc::clone(&in_work), Arc::clone(&web));
                let open = OpenConnection::new(&shared);
                connections.spawn(async move {
                    serve_connection(&open.0, &in_work, &web, reader, writer).await;
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                descriptors::wait_for_descriptors(&mut connections).await;
            }
        }
    }
    let stopped_at = Instant::now();
    drop(listener);
    let drain = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(DRAIN, async { tokio::join!(drain, web.stop_serving()) }).await;
    stopped_at
}

/// Counts an open connection until it is dropped, even by a panic.
struct OpenConnection(Arc<Shared>);

impl OpenConnection {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.engine.connections.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        memories::import_export::foreign_databases::close_abandoned(&self.0);
        self.0.engine.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn turn_away(writer: impl AsyncWrite + Unpin, max_connections: usize) {
    let busy = busy_error(format!("{max_connections} connections are open, the maximum"))
        .with_hint("close clients that keep a connection open, such as editors and agents, or try again");
    reply_queue::send_only_reply(writer, &Response::failure(Value::Null, busy)).await;
}

async fn serve_connection<R, W>(
    shared: &Arc<Shared>,
    in_work: &Arc<Semaphore>,
    web: &Arc<HttpServer>,
    reader: R,
    writer: W,
) where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut stopping = shared.stopping.subscribe();
    let connection = Arc::new(ClientConnection::default());
    let (replies, mut writing) = ReplyQueue::start(writer);
    let in_flight = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
    let mut lines = PeerLines::new(reader);
    let mut is_cut = false;
    loop {
        let line = tokio::select! {
            biased;
            _ = stopping.wait_for(|is_stopping| *is_stopping) => break,
            line = lines.next() => line,
            _ = &mut writing => return,
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(why) => {
                replies.send(&Response::failure(Value::Null, why), None).await;
                is_cut = true;
                break;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match parse_request(&line) {
            Ok(request) => request,
            Err(response) => {
                replies.send(&response, None).await;
                continue;
            }
        };
        let (place, work) = match admit_request(&in_flight, in_work) {
            Ok(admitted) => admitted,
            Err(why) => {
                replies.send(&Response::failure(request.id.unwrap_or_default(), why), None).await;
                continue;
            }
        };
        let (shared, web, replies) = (Arc::clone(shared), Arc::clone(web), replies.clone());
        let connection = Arc::downgrade(&connection);
        tokio::spawn(async move {
            let only_reads = Method::find_method(&request.method).is_some_and(|method| method.only_reads);
            let subscribes = request.method == SUBSCRIBE;
            let response = run_request(Arc::clone(&shared), web, request, connection.clone()).await;
            drop(work);
            match response {
                Some(response) if only_reads => replies.send_if_room(response, place).await,
                Some(response) => replies.send(&response, Some(place)).await,
                None => {}
            }
            if let Some(connection) = connection.upgrade().filter(|_| subscribes) {
                connection
                    .send_events(&shared.engine.events, |subscription| {
                        tokio::spawn(send_events(subscription, replies))
                    })
                    .await;
            }
        });
    }
    // Order is significant: the subscription ends first, because the task that sends its events writes replies too.
    drop(connection);
    drop(replies);
    let rest = async {
        if is_cut {
            lines.drop_rest().await;
        }
    };
    let _ = tokio::join!(writing, rest);
}

/// Sends the events of a subscription, one after the other, so that newer events can replace unread ones.
async fn send_events(mut subscription: Subscription, replies: ReplyQueue) {
    let one = Arc::new(Semaphore::new(1));
    loop {
        let place = Arc::clone(&one).acquire_owned().await.expect("nobody closes the semaphore");
        let Some(event) = subscription.next().await else { return };
        replies.send_event(&event.json, place).await;
    }
}

/// Reserves a place for a request in its connection and, unless it is the only request there, among all requests.
fn admit_request(
    in_flight: &Arc<Semaphore>,
    in_work: &Arc<Semaphore>,
) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), RpcError> {
    let is_only = in_flight.available_permits() == MAX_IN_FLIGHT;
    let place = Arc::clone(in_flight).try_acquire_owned();
    let place = place
        .map_err(|_| busy_error(format!("{MAX_IN_FLIGHT} requests of this connection are in progress")))?;
    match Arc::clone(in_work).try_acquire_owned() {
        Ok(work) => Ok((place, Some(work))),
        Err(_) if is_only => Ok((place, None)),
        Err(_) => Err(busy_error(format!("{MAX_IN_WORK} requests of all connections are in progress"))),
    }
}

/// Runs one request; a panic becomes an error. A notification has no response.
async fn run_request(
    shared: Arc<Shared>,
    web: Arc<HttpServer>,
    request: Request,
    connection: Weak<ClientConnection>,
) -> Option<Response> {
    let Request { id, method, params, .. } = request;
    let name = method.clone();
    let call = async move {
        match method.starts_with("serve.") {
            true => web.call_method(&method, params).await,
            false => {
                let origin = RequestOrigin::Socket(connection);
                dispatch::call_method(&shared, origin, &method, params).await
            }
        }
    };
    let outcome = tokio::spawn(call).await;
    let id = id?;
    Some(match outcome {
        Ok(Ok(result)) => Response::success(id, result),
        Ok(Err(error)) => Response::failure(id, error),
        Err(panic) => {
            tracing::error!(method = name, %panic, "a request panicked");
            let message = format!("{name}: internal error, see the log; the daemon keeps running");
            Response::failure(id, RpcError::new(code::INTERNAL, message))
        }
    })
}

/// Returns the error response to a line that is no request.
fn invalid_line_response(code: i64, message: String) -> Box<Response> {
    Box::new(Response::failure(Value::Null, RpcError::new(code, message)))
}

fn parse_request(line: &[u8]) -> Result<Request, Box<Response>> {
    let text = std::str::from_utf8(line)
        .map_err(|error| invalid_line_response(code::PARSE, format!("not UTF-8: {error}")))?;
    if max_nesting_depth(text) > MAX_JSON_DEPTH {
        return Err(invalid_line_response(code::PARSE, format!("nested deeper than {MAX_JSON_DEPTH}")));
    }
    let value = parse_with_exact_metadata(text)
        .map_err(|error| invalid_line_response(code::PARSE, format!("not JSON: {error}")))?;
    if value.is_array() {
        let message = "not a request: a batch; send one request a line".to_owned();
        return Err(invalid_line_response(code::INVALID_REQUEST, message));
    }
    // A null id is an id and requires a reply; serde would read it as absent.
    let id = value.get("id").cloned();
    match serde_json::from_value::<Request>(value) {
        Ok(request) => Ok(Request { id, ..request }),
        Err(error) => {
            let message = format!("not a request: {error}");
            Err(Box::new(Response::failure(
                id.unwrap_or_default(),
                RpcError::new(code::INVALID_REQUEST, message),
            )))
        }
    }
}
