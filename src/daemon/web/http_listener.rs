//! Accepts HTTP connections, within limits of their number and of time.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

use super::guard::MAX_HEAD_BYTES;
use super::handler::answer_request;
use super::http_site::{HttpSite, OpenHttpConnection};
use super::response::{Body, HEADERS, HttpFailure};
use crate::daemon::process::descriptors;

/// Time limit for the head of a request, and for the pause between two requests of one connection.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// Time limit for a peer to read a part of its response, or, for a peer that is turned away, all of it.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for running requests when the site is stopped.
const DRAIN: Duration = Duration::from_secs(2);

/// Accepts connections until `stop` is set, then lets running requests finish.
pub(super) async fn accept_connections(
    site: Arc<HttpSite>,
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            // No other task adds connections.
            Ok((stream, _)) if site.n_connections() >= site.max_connections as u64 => {
                connections.spawn(turn_away(stream));
            }
            Ok((stream, _)) => {
                let peer = OpenHttpConnection::new(&site);
                connections.spawn(serve_peer(Arc::clone(&site), peer, stream, stop.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept an HTTP connection");
                descriptors::wait_for_descriptors(&mut connections).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Answers a peer over the maximum number of connections, without reading its request.
async fn turn_away(mut stream: TcpStream) {
    let headers: String = HEADERS.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let busy = format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n"
    );
    let _ = timeout(UNREAD_TIMEOUT, stream.write_all(busy.as_bytes())).await; // the peer may be gone
    let _ = stream.shutdown().await;
}

async fn serve_peer(
    site: Arc<HttpSite>,
    _peer: OpenHttpConnection,
    stream: TcpStream,
    mut stop: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(UNREAD_TIMEOUT));
    let service = service_fn(|request| {
        let answered = answer_or_fail(answer_request(Arc::clone(&site), request));
        async { Ok::<_, Infallible>(answered.await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(MAX_HEAD_BYTES);
    let mut connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = Pin::new(&mut connection);
    tokio::select! {
        // An error is caused by the peer, which sent no HTTP, was too slow, or went away.
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = timeout(DRAIN, connection).await;
}

/// Answers on a separate task, so that a panic ends only the request, and a change is completed even if the peer goes away.
async fn answer_or_fail(answering: impl Future<Output = Response<Body>> + Send + 'static) -> Response<Body> {
    tokio::spawn(answering).await.unwrap_or_else(|panic| {
        tracing::error!(%panic, "a request over HTTP panicked");
        HttpFailure::internal_failure().into_response()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let response = answer_or_fail(async { panic!("on /home/me/secret") }).await;
        assert_eq!(response.status(), 500);
        let body = http_body_util::BodyExt::collect(response.into_body()).await.expect("no error").to_bytes();
        let body = String::from_utf8_lossy(&body);
        assert!(body.contains("\"internal\"") && !body.contains("secret"), "{body}");
    }
}
