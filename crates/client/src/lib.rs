//! Connects to the daemon of a repository, starts it where needed, and calls its methods.
//!
//! The client connects to the socket that the endpoint file names. If nothing listens there, it takes the spawn lock, probes
//! again, starts a daemon, and waits for the line with which the daemon reports that it is ready. The client is synchronous and
//! links no code of the daemon.
//!
//! Invariant: no step waits without a deadline, except the wait for an event, which may never come.

pub mod child;
mod client_error;
mod event_stream;
mod fetch_process;
mod spawn;
mod stopped_memories;
mod transport;
mod version;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use memod_base::paths::{Env, RepoLayout};
use memod_base::threads::pause;
use memod_proto::{CwdParams, Endpoint, HelloParams, HelloResult, PROTOCOL, RpcError, code};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;

pub use client_error::ClientError;
pub use fetch_process::{DownloadServers, run_fetch};
pub use spawn::{
    claim_background_replacement, run_self_in_background, start_in_background, wait_until_daemon_lock_free,
};
pub use stopped_memories::{StoppedMemories, lock_out_daemons};
use transport::DaemonConnection;
use version::VersionSkew;

/// `CARGO_PKG_VERSION` of this client.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long a request is retried that the daemon temporarily refuses, because it is busy or stopping.
const RETRY_FOR: Duration = Duration::from_secs(30);

/// Delay between two attempts if the daemon does not ask for another delay.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// Number of times that a daemon may close the connection before the client gives up.
const MAX_RECONNECTS: usize = 2;

/// Options of a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Whether to start a daemon if none answers, and to replace an older one.
    pub start: bool,
    /// Whether a daemon that this client starts indexes nothing until a request needs the index.
    pub index_on_demand: bool,
    /// The program to start.
    pub daemon: PathBuf,
    /// Version that this client reports.
    pub version: String,
    /// Time limit for one answer.
    pub answer_within: Duration,
    /// Time limit for a daemon to become ready, or to stop.
    pub ready_within: Duration,
}

impl ClientOptions {
    /// Returns the default options. The program is `$MEMO_DAEMON`, or else the `memod` next to this program, or else the `memod` in
    /// `PATH`. Reads the environment.
    pub fn read() -> Self {
        Self {
            start: true,
            index_on_demand: false,
            daemon: spawn::daemon_program(),
            version: VERSION.to_owned(),
            answer_within: Duration::from_secs(30),
            ready_within: Duration::from_secs(10),
        }
    }

    /// Returns the options with starting disabled: without a running daemon, the client gets [`ClientError::NotRunning`].
    #[must_use]
    pub fn without_start(mut self) -> Self {
        self.start = false;
        self
    }
}

/// A connection to the daemon of one repository.
#[derive(Debug)]
pub struct Client {
    layout: RepoLayout,
    env: Env,
    options: ClientOptions,
    connection: DaemonConnection,
    endpoint: Endpoint,
    next_id: u64,
    /// Whether the last answer was that too many clients are connected; the daemon has closed the connection then.
    was_turned_away: bool,
}

/// A serializable call, which borrows its params.
#[derive(Serialize)]
struct RpcCall<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

/// A reply without its result.
#[derive(Deserialize)]
struct ReplyHead {
    id: Option<u64>,
    error: Option<RpcError>,
    method: Option<String>,
}

/// A reply with a result of the requested type.
#[derive(Deserialize)]
#[serde(bound = "R: DeserializeOwned")]
struct ReplyResult<R> {
    #[serde(default, deserialize_with = "deserialize_present")]
    result: Option<R>,
}

impl Client {
    /// Connects to the daemon of `layout`, and starts or replaces it according to `options`.
    ///
    /// # Errors
    /// When no daemon that speaks our protocol can be reached. A daemon that was started may keep running.
    pub fn connect(layout: &RepoLayout, env: &Env, options: ClientOptions) -> Result<Self, ClientError> {
        let (connection, endpoint) = connect_or_start(layout, env, &options)?;
        let (layout, env) = (layout.clone(), env.clone());
        let mut client =
            Self { layout, env, options, connection, endpoint, next_id: 1, was_turned_away: false };
        client.settle_versions_with_retry()?;
        Ok(client)
    }

    /// Returns the published endpoint of the daemon.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns whether the daemon is older than this client.
    pub fn is_daemon_older(&self) -> bool {
        self.version_skew() == VersionSkew::DaemonOlder
    }

    fn version_skew(&self) -> VersionSkew {
        let daemon = (self.endpoint.version.as_str(), self.endpoint.protocol);
        version::compare_versions((&self.options.version, PROTOCOL), daemon)
    }

    /// Sets the time limit for answers from now on.
    pub fn set_answer_limit(&mut self, limit: Duration) {
        self.options.answer_within = limit;
    }

    /// Calls a method and waits for its answer.
    ///
    /// If the daemon stops before it answers, another one is started and the call is repeated; it is also repeated after `busy`. So
    /// every method must tolerate being called twice.
    ///
    /// # Errors
    /// When the daemon returns an error or does not answer. After [`ClientError::NoAnswer`] the connection is unusable.
    pub fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError> {
        let line = self.call_with_retries(&|id| encode_call(id, method, params))?;
        self.parse_result(&line)
    }

    /// Sends a call and returns the line of the reply, with the retries of [`Self::call`]. The function is not generic, so that the
    /// program has one copy of this code instead of one per method.
    fn call_with_retries(
        &mut self,
        call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, ClientError> {
        let give_up = self.retry_deadline();
        let mut reconnects = 0;
        loop {
            let error = match self.call_once(call) {
                Err(error) if Instant::now() < give_up => error,
                done => return done,
            };
            match &error {
                ClientError::Rpc(rpc) if rpc.code == code::BUSY => {
                    pause(retry_delay(rpc));
                    if self.was_turned_away {
                        self.reconnect()?;
                    }
                }
                ClientError::Rpc(rpc) if rpc.code == code::STOPPING => {
                    pause(RETRY_AFTER);
                    self.reconnect()?;
                }
                ClientError::ConnectionClosed { .. } if reconnects < MAX_RECONNECTS => {
                    reconnects += 1;
                    self.reconnect()?;
                }
                _ => return Err(error),
            }
        }
    }

    /// Sends a call and returns the line of the reply. Repeats the call while the daemon is busy, but for at most
    /// [`ClientOptions::answer_within`].
    fn call_while_busy(
        &mut self,
        call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, ClientError> {
        let give_up = self.retry_deadline();
        loop {
            match self.call_once(call) {
                Err(ClientError::Rpc(rpc)) if rpc.code == code::BUSY && Instant::now() < give_up => {
                    pause(retry_delay(&rpc));
                }
                done => return done,
            }
            if self.was_turned_away {
                let limit = self.options.answer_within;
                let same =
                    transport::connect_endpoint(self.endpoint.clone(), &self.layout, &self.env, limit)?;
                (self.connection, _) = same.ok_or_else(|| self.connection_closed_error())?;
            }
        }
    }

    fn retry_deadline(&self) -> Instant {
        Instant::now() + RETRY_FOR.min(self.options.answer_within)
    }

    /// Asks the daemon to finish its requests and exit, and waits until it has exited.
    ///
    /// # Errors
    /// When the daemon does not answer, or has not exited after [`ClientOptions::ready_within`].
    pub fn stop(mut self) -> Result<(), ClientError> {
        self.stop_daemon()
    }

    fn stop_daemon(&mut self) -> Result<(), ClientError> {
        let limit = self.options.ready_within;
        if self.ask_to_stop()? && spawn::wait_until_daemon_gone(&self.layout, self.endpoint.pid, limit)? {
            return Ok(());
        }
        let Endpoint { pid, version, .. } = self.endpoint.clone();
        Err(ClientError::NotStopped { pid, version, waited_s: limit.as_secs() })
    }

    /// Asks the daemon to finish its requests and exit, and returns whether it closed the connection in time.
    fn ask_to_stop(&mut self) -> Result<bool, ClientError> {
        let params = CwdParams { cwd: self.layout.root.display().to_string() };
        match self.call_while_busy(&|id| encode_call(id, "stop", &params)) {
            Ok(_) | Err(ClientError::ConnectionClosed { .. }) => {}
            Err(ClientError::Rpc(rpc)) if rpc.code == code::STOPPING => {}
            Err(error) => return Err(error),
        }
        Ok(self.connection.wait_until_closed(Instant::now() + self.options.ready_within))
    }

    /// Sends a call once, and returns the line of the reply.
    fn call_once(
        &mut self,
        call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let deadline = Instant::now() + self.options.answer_within;
        let line = call(id).map_err(|error| self.invalid_answer_error(&error.to_string()))?;
        self.was_turned_away = false;
        match self.connection.send_line(&line, deadline) {
            // The connection is closed, but the reason for a rejection may still be in its buffer.
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            sent => sent.map_err(|error| self.to_client_error(&error))?,
        }
        loop {
            let line = self.connection.read_line(deadline).map_err(|error| self.to_client_error(&error))?;
            let head: ReplyHead = serde_json::from_slice(&line)
                .map_err(|error| self.invalid_answer_error(&describe_json_error(&error)))?;
            let is_busy = head.error.as_ref().is_some_and(|error| error.code == code::BUSY);
            self.was_turned_away = head.id.is_none() && is_busy;
            if head.method.is_some() || head.id.is_some_and(|other| other != id) {
                continue; // an event, or the answer to a call that was given up
            }
            return head.error.map_or(Ok(line), |error| Err(error.into()));
        }
    }

    fn parse_result<R: DeserializeOwned>(&self, line: &[u8]) -> Result<R, ClientError> {
        let reply: ReplyResult<R> =
            serde_json::from_slice(line).map_err(|error| self.invalid_answer_error(&error.to_string()))?;
        reply.result.ok_or_else(|| self.invalid_answer_error("neither result nor error"))
    }

    fn reconnect(&mut self) -> Result<(), ClientError> {
        (self.connection, self.endpoint) = connect_or_start(&self.layout, &self.env, &self.options)?;
        self.settle_versions_with_retry()
    }

    /// Does the same as [`Self::match_versions`], and connects again if the daemon accepts the connection and then ends.
    fn settle_versions_with_retry(&mut self) -> Result<(), ClientError> {
        for _ in 0..MAX_RECONNECTS {
            match self.match_versions() {
                Err(ClientError::ConnectionClosed { .. }) => pause(RETRY_AFTER),
                done => return done,
            }
            (self.connection, self.endpoint) = connect_or_start(&self.layout, &self.env, &self.options)?;
        }
        self.match_versions()
    }

    /// Ensures that client and daemon speak the same protocol, and replaces an older daemon if the options allow it. If the
    /// endpoint file has the version of this client, `hello` is not called.
    fn match_versions(&mut self) -> Result<(), ClientError> {
        if self.endpoint.version == self.options.version && self.endpoint.protocol == PROTOCOL {
            return Ok(());
        }
        let ours = HelloParams { version: self.options.version.clone(), protocol: PROTOCOL };
        let line = self.call_while_busy(&|id| encode_call(id, "hello", &ours))?;
        let HelloResult { version, protocol, pid } = self.parse_result(&line)?;
        self.endpoint = Endpoint { version, protocol, pid, ..self.endpoint.clone() };
        match self.version_skew() {
            VersionSkew::DaemonOlder if self.options.start => self.replace_daemon(),
            VersionSkew::DaemonNewer if protocol != PROTOCOL => Err(ClientError::NewerDaemon {
                daemon: self.endpoint.version.clone(),
                protocol,
                client: ours.version,
            }),
            _ => Ok(()),
        }
    }

    /// Checks that our program could serve, stops the daemon, and starts our program instead.
    ///
    /// # Errors
    /// When our program could not serve (the daemon then keeps running), or the stop or the start fails.
    pub fn replace_daemon(&mut self) -> Result<(), ClientError> {
        let Endpoint { pid, version, .. } = self.endpoint.clone();
        spawn::check_daemon_program(&self.layout, &self.options)
            .map_err(|source| ClientError::NotReplaced { pid, version, source: Box::new(source) })?;
        self.stop_daemon()?;
        self.options.start = true;
        (self.connection, self.endpoint) = connect_or_start(&self.layout, &self.env, &self.options)?;
        Ok(())
    }

    fn invalid_answer_error(&self, reason: &str) -> ClientError {
        ClientError::InvalidAnswer { socket: self.socket_path(), reason: reason.to_owned() }
    }

    fn to_client_error(&self, error: &std::io::Error) -> ClientError {
        let (pid, socket, log) = (self.endpoint.pid, self.socket_path(), self.layout.log_file());
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                ClientError::NoAnswer { pid, socket, log, waited_s: self.options.answer_within.as_secs() }
            }
            ErrorKind::InvalidData => self.invalid_answer_error(&error.to_string()),
            _ => self.connection_closed_error(),
        }
    }

    fn connection_closed_error(&self) -> ClientError {
        ClientError::ConnectionClosed {
            pid: self.endpoint.pid,
            socket: self.socket_path(),
            log: self.layout.log_file(),
        }
    }

    fn socket_path(&self) -> PathBuf {
        PathBuf::from(&self.endpoint.socket)
    }
}

/// Connects to the running daemon, or starts one.
fn connect_or_start(
    layout: &RepoLayout,
    env: &Env,
    options: &ClientOptions,
) -> Result<(DaemonConnection, Endpoint), ClientError> {
    match transport::probe_daemon(layout, env, options.answer_within)? {
        Some(up) => Ok(up),
        None if options.start => spawn::start_daemon(layout, env, options),
        None => Err(ClientError::NotRunning { root: layout.root.clone() }),
    }
}

/// Encodes a call as the line that is sent.
fn encode_call<P: Serialize>(id: u64, method: &str, params: &P) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&RpcCall { jsonrpc: "2.0", id, method, params })?;
    line.push(b'\n');
    Ok(line)
}

/// Returns why a line is not a reply, in plainer words than those of the JSON parser.
fn describe_json_error(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Syntax => format!("not JSON from byte {} on", error.column()),
        Category::Eof => "incomplete JSON".to_owned(),
        Category::Data | Category::Io => error.to_string(),
    }
}

/// Deserializes a result that is present; `null` counts as present.
fn deserialize_present<'de, D: Deserializer<'de>, R: DeserializeOwned>(
    input: D,
) -> Result<Option<R>, D::Error> {
    R::deserialize(input).map(Some)
}

fn retry_delay(rpc: &RpcError) -> Duration {
    let retry_after_ms = rpc.data.as_ref().and_then(|data| data.retry_after_ms);
    retry_after_ms.map_or(RETRY_AFTER, |ms| Duration::from_millis(ms.clamp(1, 5_000)))
}
