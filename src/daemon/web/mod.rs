//! Serves the methods of the socket over HTTP on the loopback interface, once `memo serve` asks for it.
//!
//! `listener` accepts connections within limits, `guard` refuses what does not come from the page or a program with the
//! token, `router` finds the method of an address, and `handler` runs it as the socket does. Until it is asked for, nothing
//! listens, and while nothing is connected, nothing runs.
//!
//! Invariant: no file is read to answer a request, except by a method; the page is a part of this program.

mod event_stream;
mod guard;
mod handler;
mod health;
mod listener;
mod page_files;
mod request_params;
mod response;
mod router;
mod site;
mod token;

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_engine::errors::RpcResult;
use memod_proto::{CwdParams, RpcError, ServeParams, ServeResult, code};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore, watch};
use tokio::task::JoinHandle;

use self::site::Site;
use self::token::Secrets;
use crate::daemon::request::error::no_method;
use crate::daemon::request::{deadline, locate, params_of};
use crate::daemon::shared::Shared;

/// The HTTP API of the daemon, listening or not.
pub(super) struct Web {
    shared: Arc<Shared>,
    /// Places of requests in progress, which the socket's requests take as well.
    in_work: Arc<Semaphore>,
    serving: Mutex<Option<Serving>>,
}

struct Serving {
    site: Arc<Site>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Web {
    pub(super) fn new(shared: &Arc<Shared>, in_work: &Arc<Semaphore>) -> Self {
        Self { shared: Arc::clone(shared), in_work: Arc::clone(in_work), serving: Mutex::default() }
    }

    /// Runs one of the methods `serve.*`.
    pub(super) async fn call(&self, method: &str, params: Value) -> RpcResult<Value> {
        self.shared.engine.note_use();
        let result = match method {
            "serve.start" => self.start(params_of(params)?).await?,
            "serve.stop" => {
                self.locate(&params_of::<CwdParams>(params)?.cwd).await?;
                self.end().await;
                ServeResult::default()
            }
            "serve.status" => {
                self.locate(&params_of::<CwdParams>(params)?.cwd).await?;
                let serving = self.serving.lock().await;
                serving.as_ref().filter(|serving| serving.is_running()).map(Serving::told).unwrap_or_default()
            }
            _ => return Err(no_method(method)),
        };
        Ok(json!(result))
    }

    /// Listens, unless it does already.
    async fn start(&self, params: ServeParams) -> RpcResult<ServeResult> {
        let root = self.locate(&params.cwd).await?;
        let mut serving = self.serving.lock().await;
        if let Some(running) = serving.as_ref().filter(|serving| serving.is_running()) {
            return running.told_to(&params);
        }
        let listener = bind(params.port.unwrap_or_default()).await?;
        let port = listener.local_addr().map_err(|error| cannot_listen(0, &error))?.port();
        let secrets = Secrets::random().map_err(no_random)?;
        let (stop, stopped) = watch::channel(false);
        let site = Site::new(&self.shared, &self.in_work, secrets, port, root, stopped.clone());
        let site = Arc::new(site);
        let accepting = tokio::spawn(listener::accept(Arc::clone(&site), listener, stopped));
        tracing::info!(port, "listening for HTTP");
        serving.insert(Serving { site, stop, accepting }).told_to(&params)
    }

    /// Stops listening, and lets running requests finish within a limit.
    pub(super) async fn end(&self) {
        let Some(Serving { stop, accepting, .. }) = self.serving.lock().await.take() else { return };
        let _ = stop.send(true); // it may have ended
        let _ = accepting.await; // a panic is in the log already
        tracing::info!("no longer listening for HTTP");
    }

    async fn locate(&self, cwd: &str) -> RpcResult<String> {
        let layout = locate(&self.shared, cwd, deadline(&self.shared, None)).await?;
        let not_utf8 = |path: &Path| RpcError::new(code::IO, format!("{}: not UTF-8", path.display()));
        Ok(layout.root.to_str().ok_or_else(|| not_utf8(&layout.root))?.to_owned())
    }
}

impl Serving {
    fn is_running(&self) -> bool {
        !self.accepting.is_finished()
    }

    fn told_to(&self, params: &ServeParams) -> RpcResult<ServeResult> {
        let mut told = self.told();
        if params.for_browser {
            let once = self.site.secrets.offer_once(Instant::now()).map_err(no_random)?;
            told.browser_url = Some(self.url(&once));
        }
        Ok(told)
    }

    fn url(&self, token: &str) -> String {
        format!("http://127.0.0.1:{}/#token={token}", self.site.port)
    }

    fn told(&self) -> ServeResult {
        let Site { port, root, .. } = &*self.site;
        ServeResult {
            serving: true,
            url: Some(self.url(self.site.secrets.token())),
            browser_url: None,
            port: Some(*port),
            root: Some(root.clone()),
            connections: self.site.n_connections(),
        }
    }
}

fn no_random(why: String) -> RpcError {
    RpcError::new(code::IO, why)
}

async fn bind(port: u16) -> RpcResult<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| cannot_listen(port, &error))
}

fn cannot_listen(port: u16, error: &io::Error) -> RpcError {
    let hint = match error.kind() {
        ErrorKind::AddrInUse | ErrorKind::PermissionDenied => {
            "name another port with --port, or leave it out: then a free one is taken"
        }
        _ => "`memo logs` may say more",
    };
    RpcError::new(code::IO, format!("cannot listen on 127.0.0.1:{port}: {error}")).with_hint(hint)
}
