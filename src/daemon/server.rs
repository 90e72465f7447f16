//! Serves the connections of the socket, within limits.
//!
//! The protocol is JSON-RPC 2.0 with one object per line. Replies may come out of order, and a peer that has closed its
//! sending side still gets its answers. The limits are those of design 11.

pub(super) mod lines;
pub(super) mod listen;
pub(super) mod replies;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use memod_base::types::parse_with_metadata;
use memod_engine::subscriptions::Subscription;
use memod_proto::{MAX_DEPTH, Method, Request, Response, RpcError, code, depth};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::daemon::dispatch;
use crate::daemon::memories;
use crate::daemon::process::descriptors;
use crate::daemon::request::CONNECTION;
use crate::daemon::request::connection::Connection;
use crate::daemon::request::error::busy;
use crate::daemon::server::lines::Lines;
use crate::daemon::server::listen::Listener;
use crate::daemon::server::replies::{MAX_IN_FLIGHT, Replies};
use crate::daemon::shared::Shared;
use crate::daemon::web::Web;

/// The method whose answer is followed by events.
const SUBSCRIBE: &str = "subscribe";
/// Most requests in progress over all connections, not counting one for each. The next request waits for as many searches:
/// at 10 ms each on two cores, 64 of them leave two thirds of the second that freshness may take.
const MAX_IN_WORK: usize = 64;
/// Longest wait for running requests at the end. Those that get no answer are sent again by the client, to the next daemon.
const DRAIN: Duration = Duration::from_secs(5);

/// Accepts connections until `stop` is set, then lets running requests finish. Returns when `stop` was set.
pub(super) async fn serve(
    shared: Arc<Shared>,
    mut listener: Listener,
    mut stop: watch::Receiver<bool>,
) -> Instant {
    let mut connections = JoinSet::new();
    let in_work = Arc::new(Semaphore::new(MAX_IN_WORK));
    let web = Arc::new(Web::new(&shared, &in_work));
    let max_connections = descriptors::max_connections();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                // Only the HTTP API adds connections as well, a quarter of them at most.
                if shared.engine.connections.load(Ordering::SeqCst) >= max_connections {
                    connections.spawn(turn_away(writer, max_connections));
                    continue;
                }
                let (in_work, web, stop) = (Arc::clone(&in_work), Arc::clone(&web), stop.clone());
                let open = OpenConnection::new(&shared);
                connections
                    .spawn(async move { converse(&open.0, &in_work, &web, reader, writer, stop).await });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept");
                descriptors::some_may_be_free(&mut connections).await;
            }
        }
    }
    let stopped_at = Instant::now();
    drop(listener);
    let drain = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(DRAIN, async { tokio::join!(drain, web.end()) }).await;
    stopped_at
}

/// One of the open connections, until its end, be it by a panic.
struct OpenConnection(Arc<Shared>);

impl OpenConnection {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.engine.connections.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        memories::databases::close_left(&self.0);
        self.0.engine.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn turn_away(writer: impl AsyncWrite + Unpin, max_connections: usize) {
    let busy = busy(format!("{max_connections} connections are open, the maximum"))
        .with_hint("close clients that keep a connection open, such as editors and agents, or try again");
    replies::send_last(writer, &Response::failure(Value::Null, busy)).await;
}

async fn converse<R, W>(
    shared: &Arc<Shared>,
    in_work: &Arc<Semaphore>,
    web: &Arc<Web>,
    reader: R,
    writer: W,
    mut stop: watch::Receiver<bool>,
) where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let connection = Arc::new(Connection::default());
    let (replies, mut writing) = Replies::start(writer);
    let in_flight = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
    let mut lines = Lines::new(reader);
    let mut is_cut = false;
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
                replies.send(&Response::failure(Value::Null, why), None).await;
                is_cut = true;
                break;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match parse(&line) {
            Ok(request) => request,
            Err(response) => {
                replies.send(&response, None).await;
                continue;
            }
        };
        let (place, work) = match admit(&in_flight, in_work) {
            Ok(admitted) => admitted,
            Err(why) => {
                replies.send(&Response::failure(request.id.unwrap_or_default(), why), None).await;
                continue;
            }
        };
        let (shared, web, replies) = (Arc::clone(shared), Arc::clone(web), replies.clone());
        let connection = Arc::downgrade(&connection);
        tokio::spawn(async move {
            let only_reads = Method::find(&request.method).is_some_and(|method| method.only_reads);
            let subscribes = request.method == SUBSCRIBE;
            let response = respond(Arc::clone(&shared), web, request, connection.clone()).await;
            drop(work);
            match response {
                Some(response) if only_reads => replies.send_if_room(response, place).await,
                Some(response) => replies.send(&response, Some(place)).await,
                None => {}
            }
            if let Some(connection) = connection.upgrade().filter(|_| subscribes) {
                let send = |subscription| tokio::spawn(send_events(subscription, replies));
                connection.send_events(&shared.engine.events, send).await;
            }
        });
    }
    // Order is significant: the subscription ends first, because who sends its events writes too.
    drop(connection);
    drop(replies);
    let rest = async {
        if is_cut {
            lines.drop_rest().await;
        }
    };
    let _ = tokio::join!(writing, rest);
}

/// Sends the events of a subscription, one after the other, so that unread ones can be replaced by newer ones.
async fn send_events(mut subscription: Subscription, replies: Replies) {
    let one = Arc::new(Semaphore::new(1));
    loop {
        let place = Arc::clone(&one).acquire_owned().await.expect("nobody closes the semaphore");
        let Some(event) = subscription.next().await else { return };
        replies.send_event(&event.json, place).await;
    }
}

/// Reserves a place for a request in its connection and, unless it is the only one there, among all requests.
fn admit(
    in_flight: &Arc<Semaphore>,
    in_work: &Arc<Semaphore>,
) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), RpcError> {
    let is_only = in_flight.available_permits() == MAX_IN_FLIGHT;
    let place = Arc::clone(in_flight).try_acquire_owned();
    let place =
        place.map_err(|_| busy(format!("{MAX_IN_FLIGHT} requests of this connection are in progress")))?;
    match Arc::clone(in_work).try_acquire_owned() {
        Ok(work) => Ok((place, Some(work))),
        Err(_) if is_only => Ok((place, None)),
        Err(_) => Err(busy(format!("{MAX_IN_WORK} requests of all connections are in progress"))),
    }
}

/// Runs one request; a panic becomes an error. A notification has no response.
async fn respond(
    shared: Arc<Shared>,
    web: Arc<Web>,
    request: Request,
    connection: Weak<Connection>,
) -> Option<Response> {
    let Request { id, method, params, .. } = request;
    let name = method.clone();
    let call = async move {
        match method.starts_with("serve.") {
            true => web.call(&method, params).await,
            false => dispatch::call(&shared, &method, params).await,
        }
    };
    let outcome = tokio::spawn(CONNECTION.scope(connection, call)).await;
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

fn parse(line: &[u8]) -> Result<Request, Box<Response>> {
    let bad = |code, message: String| Box::new(Response::failure(Value::Null, RpcError::new(code, message)));
    let text = std::str::from_utf8(line).map_err(|error| bad(code::PARSE, format!("not UTF-8: {error}")))?;
    if depth(text) > MAX_DEPTH {
        return Err(bad(code::PARSE, format!("nested deeper than {MAX_DEPTH}")));
    }
    let value = parse_with_metadata(text).map_err(|error| bad(code::PARSE, format!("not JSON: {error}")))?;
    if value.is_array() {
        return Err(bad(code::INVALID_REQUEST, "not a request: a batch; send one request a line".to_owned()));
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
