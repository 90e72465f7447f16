//! Holds the state that the HTTP connections of one address share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::{Semaphore, watch};

use super::guard::AllowedHosts;
use super::http_secrets::{HttpSecrets, WrongGuesses};
use crate::daemon::process::descriptors;
use crate::daemon::shared::Shared;

/// Maximum number of connections. If the limit of open files is low, a quarter of the daemon's connections, so that the socket
/// always has room.
const MAX_CONNECTIONS: usize = 128;

/// The state of the HTTP server at one address, from `serve.start` to `serve.stop`.
pub(super) struct HttpSite {
    pub(super) shared: Arc<Shared>,
    pub(super) in_work: Arc<Semaphore>,
    pub(super) secrets: HttpSecrets,
    pub(super) guesses: Mutex<WrongGuesses>,
    pub(super) hosts: AllowedHosts,
    pub(super) port: u16,
    /// Root of the worktree that a request without a `cwd` is about.
    pub(super) root: String,
    /// Name of the session cookie. Browsers send cookies to all ports, so the cookie of each daemon has its own name.
    pub(super) cookie_name: String,
    /// When `/health` last read the databases, and why that failed, if it did. The lock is held during the read: requests to
    /// `/health` need no token, and many of them must not cost more than one.
    pub(super) health: tokio::sync::Mutex<Option<(Instant, Option<&'static str>)>>,
    /// Maximum number of connections at a time.
    pub(super) max_connections: usize,
    /// Limits the number of event streams to a quarter of the connections, so that they leave room for requests.
    pub(super) stream_permits: Arc<Semaphore>,
    /// Becomes true when the site is stopped.
    pub(super) stopping: watch::Receiver<bool>,
    connections: AtomicU64,
}

impl HttpSite {
    pub(super) fn new(
        shared: &Arc<Shared>,
        in_work: &Arc<Semaphore>,
        secrets: HttpSecrets,
        port: u16,
        root: String,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let max_connections = (descriptors::max_connections() / 4).clamp(1, MAX_CONNECTIONS);
        Self {
            shared: Arc::clone(shared),
            in_work: Arc::clone(in_work),
            secrets,
            guesses: Mutex::default(),
            hosts: AllowedHosts::new(port),
            port,
            root,
            cookie_name: format!("memo-{port}"),
            health: tokio::sync::Mutex::default(),
            stream_permits: Arc::new(Semaphore::new(max_connections / 4)),
            stopping,
            max_connections,
            connections: AtomicU64::new(0),
        }
    }

    /// Returns the number of open HTTP connections.
    pub(super) fn n_connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Counts an open HTTP connection until it is dropped, even by a panic. It also counts as a connection of the daemon, which
/// therefore does not exit as idle.
pub(super) struct OpenHttpConnection(Arc<HttpSite>);

impl OpenHttpConnection {
    pub(super) fn new(site: &Arc<HttpSite>) -> Self {
        site.connections.fetch_add(1, Ordering::SeqCst);
        site.shared.engine.connections.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(site))
    }
}

impl Drop for OpenHttpConnection {
    fn drop(&mut self) {
        self.0.shared.engine.connections.fetch_sub(1, Ordering::SeqCst);
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}
