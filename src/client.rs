//! Connects to the daemon of a repository, starts it where needed, and calls its methods.
//!
//! Connect to the socket that the endpoint file names; refused or absent: take the spawn lock, probe again,
//! start a daemon and wait for its one line. Synchronous, and free of everything the daemon links.
//!
//! Invariant: no step waits without a deadline.

pub mod child;
mod no_answer;
mod spawn;
mod transport;
mod version;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::paths::{Env, RepoLayout};
use crate::proto::{CwdParams, Endpoint, HelloParams, HelloResult, PROTOCOL, RpcError, code};

pub use no_answer::ClientError;
use transport::Connection;
use version::Skew;

/// `CARGO_PKG_VERSION` of this client.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long a request that the daemon refuses for now (`busy`, stopping) is tried again.
const RETRY_FOR: Duration = Duration::from_secs(30);

/// Wait between two tries where the daemon did not say how long.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// How often a daemon may hang up on us before it is given up.
const MOST_RECONNECTS: usize = 2;

/// What a client does where it has a choice.
#[derive(Clone, Debug)]
pub struct Options {
    /// Start a daemon when none answers, and replace an older one.
    pub start: bool,
    /// The program that is started.
    pub daemon: PathBuf,
    /// Version this client claims to be.
    pub version: String,
    /// How long one answer may take.
    pub answer_within: Duration,
    /// How long a daemon may take to be ready, or to be gone.
    pub ready_within: Duration,
}

impl Options {
    /// Returns the usual choices: start `$MEMO_DAEMON`, else the `memod` beside this program, else in `PATH`.
    ///
    /// Reads the environment.
    pub fn read() -> Self {
        Self {
            start: true,
            daemon: spawn::daemon_program(),
            version: VERSION.to_owned(),
            answer_within: Duration::from_secs(30),
            ready_within: Duration::from_secs(10),
        }
    }

    /// Never starts a daemon: no daemon is [`ClientError::NotRunning`].
    #[must_use]
    pub fn never_start(mut self) -> Self {
        self.start = false;
        self
    }
}

/// A connection to the daemon of one place.
#[derive(Debug)]
pub struct Client {
    layout: RepoLayout,
    env: Env,
    options: Options,
    connection: Connection,
    endpoint: Endpoint,
    next_id: u64,
    /// The last answer was that too many are connected; the daemon has closed the connection.
    turned_away: bool,
}

/// A call as it is written; borrows its params.
#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

/// What a reply is, whatever it holds.
#[derive(Deserialize)]
struct Head {
    id: Option<u64>,
    error: Option<RpcError>,
    method: Option<String>,
}

/// What a reply holds, read straight into the type that was asked for.
#[derive(Deserialize)]
#[serde(bound = "R: DeserializeOwned")]
struct Reply<R> {
    #[serde(default, deserialize_with = "present")]
    result: Option<R>,
}

impl Client {
    /// Connects to the daemon of `layout`; starts or replaces it as `options` say.
    ///
    /// # Errors
    /// When no daemon can be reached that speaks our protocol; a daemon that was started may go on running.
    pub fn connect(layout: &RepoLayout, env: &Env, options: Options) -> Result<Self, ClientError> {
        let (connection, endpoint) = reach(layout, env, &options)?;
        let (layout, env) = (layout.clone(), env.clone());
        let mut client = Self { layout, env, options, connection, endpoint, next_id: 1, turned_away: false };
        client.settle()?;
        Ok(client)
    }

    /// Returns what the daemon published about itself.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Allows answers to take this long from now on.
    pub fn answer_within(&mut self, limit: Duration) {
        self.options.answer_within = limit;
    }

    /// Calls a method and waits for its answer.
    ///
    /// A daemon that is stopping, or ends before it answered, is replaced and asked again; `busy` is waited for
    /// as told. So every method must bear being asked twice.
    ///
    /// # Errors
    /// The daemon's own error, or why there is no answer. After [`ClientError::Hung`] the connection is of no
    /// more use.
    pub fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError> {
        let line = self.ask(&|id| line(id, method, params))?;
        self.result(&line)
    }

    /// Writes a call and returns the reply to it, asked as often as [`Self::call`] promises. Apart from the types of a
    /// method, lest each of them brings a copy of all this into the program.
    fn ask(&mut self, call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>) -> Result<Vec<u8>, ClientError> {
        let give_up = self.give_up();
        let mut reconnects = 0;
        loop {
            let error = match self.ask_once(call) {
                Err(error) if Instant::now() < give_up => error,
                done => return done,
            };
            match &error {
                ClientError::Rpc(rpc) if rpc.code == code::BUSY => {
                    pause(retry_after(rpc));
                    if self.turned_away {
                        self.reconnect()?;
                    }
                }
                ClientError::Rpc(rpc) if rpc.code == code::STOPPING => {
                    pause(RETRY_AFTER);
                    self.reconnect()?;
                }
                ClientError::Gone { .. } if reconnects < MOST_RECONNECTS => {
                    reconnects += 1;
                    self.reconnect()?;
                }
                _ => return Err(error),
            }
        }
    }

    /// Asks as long as the daemon is busy, and as [`Options::answer_within`] allows.
    fn ask_patiently(
        &mut self,
        call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, ClientError> {
        let give_up = self.give_up();
        loop {
            match self.ask_once(call) {
                Err(ClientError::Rpc(rpc)) if rpc.code == code::BUSY && Instant::now() < give_up => {
                    pause(retry_after(&rpc));
                }
                done => return done,
            }
            if self.turned_away {
                let limit = self.options.answer_within;
                let same = transport::connect(self.endpoint.clone(), &self.layout, &self.env, limit)?;
                (self.connection, _) = same.ok_or_else(|| self.gone())?;
            }
        }
    }

    fn give_up(&self) -> Instant {
        Instant::now() + RETRY_FOR.min(self.options.answer_within)
    }

    /// Asks the daemon to drain and exit, and waits until it is gone.
    ///
    /// # Errors
    /// When it does not answer, or is still there after [`Options::ready_within`].
    pub fn stop(mut self) -> Result<(), ClientError> {
        self.stop_daemon()
    }

    fn stop_daemon(&mut self) -> Result<(), ClientError> {
        let params = CwdParams { cwd: self.layout.root.display().to_string() };
        match self.ask_patiently(&|id| line(id, "stop", &params)) {
            Ok(_) | Err(ClientError::Gone { .. }) => {}
            Err(ClientError::Rpc(rpc)) if rpc.code == code::STOPPING => {}
            Err(error) => return Err(error),
        }
        let limit = self.options.ready_within;
        let closed = self.connection.wait_for_end(Instant::now() + limit);
        if closed && spawn::wait_until_gone(&self.layout, self.endpoint.pid, limit)? {
            return Ok(());
        }
        let Endpoint { pid, version, .. } = self.endpoint.clone();
        Err(ClientError::Lingers { pid, version, waited_s: limit.as_secs() })
    }

    fn ask_once(
        &mut self,
        call: &dyn Fn(u64) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let deadline = Instant::now() + self.options.answer_within;
        let line = call(id).map_err(|error| self.garbage(&error.to_string()))?;
        self.turned_away = false;
        match self.connection.send(&line, deadline) {
            // It is closed; who was turned away finds the reason in it.
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            sent => sent.map_err(|error| self.failed(&error))?,
        }
        loop {
            let line = self.connection.read_line(deadline).map_err(|error| self.failed(&error))?;
            let head: Head =
                serde_json::from_slice(&line).map_err(|error| self.garbage(&error.to_string()))?;
            let is_busy = head.error.as_ref().is_some_and(|error| error.code == code::BUSY);
            self.turned_away = head.id.is_none() && is_busy;
            if head.method.is_some() || head.id.is_some_and(|other| other != id) {
                continue; // an event, or the answer to a call that was given up
            }
            return head.error.map_or(Ok(line), |error| Err(error.into()));
        }
    }

    fn result<R: DeserializeOwned>(&self, line: &[u8]) -> Result<R, ClientError> {
        let reply: Reply<R> =
            serde_json::from_slice(line).map_err(|error| self.garbage(&error.to_string()))?;
        reply.result.ok_or_else(|| self.garbage("neither result nor error"))
    }

    fn reconnect(&mut self) -> Result<(), ClientError> {
        (self.connection, self.endpoint) = reach(&self.layout, &self.env, &self.options)?;
        self.settle()
    }

    /// As [`Self::settle_versions`]; a daemon that accepted us and then ended is replaced.
    fn settle(&mut self) -> Result<(), ClientError> {
        for _ in 0..MOST_RECONNECTS {
            match self.settle_versions() {
                Err(ClientError::Gone { .. }) => pause(RETRY_AFTER),
                done => return done,
            }
            (self.connection, self.endpoint) = reach(&self.layout, &self.env, &self.options)?;
        }
        self.settle_versions()
    }

    /// Makes sure that both ends speak one protocol. The endpoint file saves the `hello` where versions are equal.
    fn settle_versions(&mut self) -> Result<(), ClientError> {
        if self.endpoint.version == self.options.version && self.endpoint.protocol == PROTOCOL {
            return Ok(());
        }
        let ours = HelloParams { version: self.options.version.clone(), protocol: PROTOCOL };
        let line = self.ask_patiently(&|id| line(id, "hello", &ours))?;
        let HelloResult { version, protocol, pid } = self.result(&line)?;
        self.endpoint = Endpoint { version, protocol, pid, ..self.endpoint.clone() };
        match version::compare((&ours.version, PROTOCOL), (&self.endpoint.version, protocol)) {
            Skew::DaemonOlder if self.options.start => self.replace(),
            Skew::DaemonNewer if protocol != PROTOCOL => Err(ClientError::NewerDaemon {
                daemon: self.endpoint.version.clone(),
                protocol,
                client: ours.version,
            }),
            _ => Ok(()),
        }
    }

    /// Stops an older daemon and starts our own.
    fn replace(&mut self) -> Result<(), ClientError> {
        self.stop_daemon()?;
        (self.connection, self.endpoint) = reach(&self.layout, &self.env, &self.options)?;
        Ok(())
    }

    fn garbage(&self, reason: &str) -> ClientError {
        ClientError::Garbage { socket: self.socket(), reason: reason.to_owned() }
    }

    fn failed(&self, error: &std::io::Error) -> ClientError {
        let (pid, socket, log) = (self.endpoint.pid, self.socket(), self.layout.log_file());
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                ClientError::Hung { pid, socket, log, waited_s: self.options.answer_within.as_secs() }
            }
            ErrorKind::InvalidData => self.garbage(&error.to_string()),
            _ => self.gone(),
        }
    }

    fn gone(&self) -> ClientError {
        ClientError::Gone { pid: self.endpoint.pid, socket: self.socket(), log: self.layout.log_file() }
    }

    fn socket(&self) -> PathBuf {
        PathBuf::from(&self.endpoint.socket)
    }
}

/// Connects to the daemon that runs, else starts one.
fn reach(layout: &RepoLayout, env: &Env, options: &Options) -> Result<(Connection, Endpoint), ClientError> {
    match transport::probe(layout, env, options.answer_within)? {
        Some(up) => Ok(up),
        None if options.start => spawn::start(layout, env, options),
        None => Err(ClientError::NotRunning { root: layout.root.clone() }),
    }
}

/// Returns a call as it is sent.
fn line<P: Serialize>(id: u64, method: &str, params: &P) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Call { jsonrpc: "2.0", id, method, params })?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a result that is there; `null` is one too.
fn present<'de, D: Deserializer<'de>, R: DeserializeOwned>(input: D) -> Result<Option<R>, D::Error> {
    R::deserialize(input).map(Some)
}

fn retry_after(rpc: &RpcError) -> Duration {
    let told = rpc.data.as_ref().and_then(|data| data.retry_after_ms);
    told.map_or(RETRY_AFTER, |ms| Duration::from_millis(ms.clamp(1, 5_000)))
}

/// Waits for a time that the other side named; there is no event to wait for instead.
pub fn pause(time: Duration) {
    let end = Instant::now() + time;
    // Parking may end early, so it is repeated.
    while let Some(rest) = end.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
        std::thread::park_timeout(rest);
    }
}
