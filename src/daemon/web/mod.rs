//! Serves the methods of the socket over HTTP on the loopback interface, once `memo serve` asks for it.
//!
//! `http_listener` accepts connections within limits, `guard` refuses requests that come neither from the page nor from a program
//! with the token, `router` finds the method of an address, and `handler` runs the method as the socket does. Before `memo serve`,
//! no port is open, and while no client is connected, no code runs.
//!
//! Invariant: no file is read to answer a request, except by a method; the page is a part of this program.

mod event_stream;
mod guard;
mod handler;
mod health;
mod http_listener;
mod http_secrets;
mod http_site;
mod page_files;
mod request_params;
mod response;
mod router;

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use memod_engine::errors::RpcResult;
use memod_proto::{CwdParams, RpcError, ServeParams, ServeResult, code};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinHandle;

use self::http_secrets::HttpSecrets;
use self::http_site::HttpSite;
use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};
use crate::daemon::request::request_errors::unknown_method_error;
use crate::daemon::request::request_params::parse_params;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::shared::Shared;

/// The HTTP API of the daemon, listening or not.
pub(super) struct HttpServer {
    shared: Arc<Shared>,
    /// Limits the number of requests in progress, together with those of the socket.
    in_work: Arc<Semaphore>,
    serving: Mutex<Option<ServingSite>>,
}

/// A site that is served, with the task that accepts its connections.
struct ServingSite {
    site: Arc<HttpSite>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl HttpServer {
    pub(super) fn new(shared: &Arc<Shared>, in_work: &Arc<Semaphore>) -> Self {
        Self { shared: Arc::clone(shared), in_work: Arc::clone(in_work), serving: Mutex::default() }
    }

    /// Runs one of the methods `serve.*`.
    pub(super) async fn call_method(&self, method: &str, params: Value) -> RpcResult<Value> {
        self.shared.engine.record_use();
        let result = match method {
            "serve.start" => self.start_serving(parse_params(params)?).await?,
            "serve.stop" => {
                self.locate_root(&parse_params::<CwdParams>(params)?.cwd).await?;
                self.stop_serving().await;
                ServeResult::default()
            }
            "serve.status" => {
                self.locate_root(&parse_params::<CwdParams>(params)?.cwd).await?;
                let serving = self.serving.lock().await;
                serving
                    .as_ref()
                    .filter(|serving| serving.is_running())
                    .map(ServingSite::describe_site)
                    .unwrap_or_default()
            }
            _ => return Err(unknown_method_error(method)),
        };
        Ok(json!(result))
    }

    /// Starts to listen, unless the server listens already; returns the address.
    async fn start_serving(&self, params: ServeParams) -> RpcResult<ServeResult> {
        let root = self.locate_root(&params.cwd).await?;
        let mut serving = self.serving.lock().await;
        if let Some(running) = serving.as_ref().filter(|serving| serving.is_running()) {
            return running.describe_site_with_browser_url(&params);
        }
        let listener = bind_port(params.port.unwrap_or_default()).await?;
        let port = listener.local_addr().map_err(|error| cannot_listen_error(0, &error))?.port();
        let secrets = HttpSecrets::random().map_err(no_random_error)?;
        let (stop, stopped) = watch::channel(false);
        let site = HttpSite::new(&self.shared, &self.in_work, secrets, port, root, stopped.clone());
        let site = Arc::new(site);
        let accepting = tokio::spawn(http_listener::accept_connections(Arc::clone(&site), listener, stopped));
        tracing::info!(port, "listening for HTTP");
        serving.insert(ServingSite { site, stop, accepting }).describe_site_with_browser_url(&params)
    }

    /// Stops listening, and lets running requests finish within a limit.
    pub(super) async fn stop_serving(&self) {
        let Some(ServingSite { stop, accepting, .. }) = self.serving.lock().await.take() else { return };
        let _ = stop.send(true); // the task may have ended
        let _ = accepting.await; // a panic is in the log already
        tracing::info!("no longer listening for HTTP");
    }

    async fn locate_root(&self, cwd: &str) -> RpcResult<String> {
        let request = RequestContext::new(&self.shared, RequestOrigin::Other);
        let layout = locate_worktree(&request, cwd, request_deadline(&request, None)).await?;
        let root = layout
            .root
            .to_str()
            .ok_or_else(|| RpcError::new(code::IO, format!("{}: not UTF-8", layout.root.display())));
        Ok(root?.to_owned())
    }
}

impl ServingSite {
    fn is_running(&self) -> bool {
        !self.accepting.is_finished()
    }

    fn describe_site_with_browser_url(&self, params: &ServeParams) -> RpcResult<ServeResult> {
        let mut result = self.describe_site();
        if params.for_browser {
            let once = self.site.secrets.create_one_time_token(Instant::now()).map_err(no_random_error)?;
            result.browser_url = Some(self.page_url(&once));
        }
        Ok(result)
    }

    fn page_url(&self, token: &str) -> String {
        format!("http://127.0.0.1:{}/#token={token}", self.site.port)
    }

    fn describe_site(&self) -> ServeResult {
        let HttpSite { port, root, .. } = &*self.site;
        ServeResult {
            serving: true,
            url: Some(self.page_url(self.site.secrets.token())),
            browser_url: None,
            port: Some(*port),
            root: Some(root.clone()),
            connections: self.site.n_connections(),
        }
    }
}

fn no_random_error(why: String) -> RpcError {
    RpcError::new(code::IO, why)
}

async fn bind_port(port: u16) -> RpcResult<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| cannot_listen_error(port, &error))
}

fn cannot_listen_error(port: u16, error: &io::Error) -> RpcError {
    let hint = match error.kind() {
        ErrorKind::AddrInUse | ErrorKind::PermissionDenied => {
            "name another port with --port, or leave it out: then a free one is taken"
        }
        _ => "`memo daemon logs` may say more",
    };
    RpcError::new(code::IO, format!("cannot listen on 127.0.0.1:{port}: {error}")).with_hint(hint)
}
