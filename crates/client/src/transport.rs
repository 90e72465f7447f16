//! Sends and receives lines over a Unix socket or a named pipe.
//!
//! `unix` and `windows` connect and set time limits; this file splits lines and finds the daemon of a repository.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::paths::{Env, IoContext, RepoLayout, is_same_dir, read_file};
use memod_proto::Endpoint;

use super::ClientError;
use stream::Stream;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as stream;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as stream;

/// Why there is no connection.
#[derive(Debug)]
enum ConnectError {
    /// The socket belongs to another user: this uid or security identifier.
    Foreign(String),
    /// The operating system refused the connection.
    Io(io::Error),
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Largest size of a line, bytes; a list of a million paths is shorter.
const MAX_LINE_BYTES: usize = 256 << 20;

/// An open connection to a daemon.
#[derive(Debug)]
pub(super) struct DaemonConnection {
    stream: BufReader<Stream>,
}

impl DaemonConnection {
    fn new(stream: Stream) -> Self {
        Self { stream: BufReader::with_capacity(64 << 10, stream) }
    }

    /// Writes one line, which must end with a line feed.
    pub(super) fn send_line(&mut self, line: &[u8], deadline: Instant) -> io::Result<()> {
        stream::set_time_limit(self.stream.get_ref(), Some(time_left(deadline)?))?;
        self.stream.get_mut().write_all(line)
    }

    /// Reads one line.
    ///
    /// # Errors
    /// `TimedOut` or `WouldBlock` after the deadline, `UnexpectedEof` at the end of the connection.
    pub(super) fn read_line(&mut self, deadline: Instant) -> io::Result<Vec<u8>> {
        self.read_line_until(Some(deadline))
    }

    /// Reads one line without a time limit.
    ///
    /// # Errors
    /// `UnexpectedEof` at the end of the connection.
    pub(super) fn read_line_without_limit(&mut self) -> io::Result<Vec<u8>> {
        if self.stream.buffer().is_empty() {
            stream::set_time_limit(self.stream.get_ref(), None)?;
        }
        self.read_line_until(None)
    }

    fn read_line_until(&mut self, deadline: Option<Instant>) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            // The caller has set the time limit of the stream. It is set again only if a line arrives in pieces.
            if !line.is_empty() {
                stream::set_time_limit(self.stream.get_ref(), deadline.map(time_left).transpose()?)?;
            }
            let bytes = match self.stream.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.stream.consume(used);
            if end.is_some() {
                return Ok(line);
            }
            if line.len() > MAX_LINE_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of more than 256 MiB"));
            }
        }
    }

    /// Reads until the daemon closes the connection; returns false after the deadline.
    pub(super) fn wait_until_closed(&mut self, deadline: Instant) -> bool {
        loop {
            let Ok(rest) = time_left(deadline) else { return false };
            if stream::set_time_limit(self.stream.get_ref(), Some(rest)).is_err() {
                return true;
            }
            match self.stream.fill_buf().map(<[u8]>::len) {
                Ok(0) => return true,
                Ok(bytes) => self.stream.consume(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return !matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
                }
            }
        }
    }
}

/// Returns the time until a deadline, which is never zero.
///
/// # Errors
/// `TimedOut` after the deadline.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let rest = deadline.saturating_duration_since(Instant::now());
    if rest.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(rest) }
}

/// Returns the endpoint in the endpoint file; `None` if the file is missing or invalid, or was copied or moved with the repository
/// and names the daemon of the original.
///
/// An invalid file is ignored, because a daemon that starts writes it again.
pub(super) fn read_endpoint_file(layout: &RepoLayout) -> Result<Option<Endpoint>, ClientError> {
    let file = layout.endpoint_file();
    match read_file(&file) {
        Err(error) if means_nothing_listens(&error) => Ok(None),
        read => {
            let text = read.at("read", &file)?;
            Ok(serde_json::from_slice(&text).ok().filter(|endpoint| is_endpoint_of(endpoint, layout)))
        }
    }
}

/// Makes the daemon of a repository that was moved check its files, so that it detects the move and ends. It gets no event of its
/// own if a directory further up was moved.
pub(super) fn make_moved_daemon_check_files(layout: &RepoLayout, env: &Env, limit: Duration) {
    let Ok(text) = read_file(&layout.endpoint_file()) else { return };
    let Ok(endpoint) = serde_json::from_slice::<Endpoint>(&text) else { return };
    if is_endpoint_of(&endpoint, layout) {
        return;
    }
    let Ok(stream) = stream::connect_stream(Path::new(&endpoint.socket), env, limit) else { return };
    let params = serde_json::json!({ "cwd": layout.root, "sync": "none" });
    let call = serde_json::json!({ "jsonrpc": "2.0", "id": 0, "method": "sync", "params": params });
    let deadline = Instant::now() + limit;
    let mut connection = DaemonConnection::new(stream);
    // The answer does not matter, because the lock of the daemon shows whether it has ended.
    let _ = connection.send_line(format!("{call}\n").as_bytes(), deadline);
    let _ = connection.read_line(deadline);
}

/// Returns whether an endpoint is that of the daemon of this repository.
fn is_endpoint_of(endpoint: &Endpoint, layout: &RepoLayout) -> bool {
    let theirs = Path::new(&endpoint.state_dir);
    // A directory that is mounted at two paths has one daemon, whose endpoint names only one of the paths.
    endpoint.state_dir.is_empty() || theirs == layout.state_dir || is_same_dir(theirs, &layout.state_dir)
}

/// Returns an endpoint with the default socket, for a daemon whose endpoint file is lost or not yet written.
///
/// Version 0 and protocol 0 match no client, so the client will call `hello`.
fn default_endpoint(layout: &RepoLayout, env: &Env) -> Endpoint {
    let socket = layout.socket_path(env).display().to_string();
    let state_dir = layout.state_dir.display().to_string();
    Endpoint { socket, state_dir, pid: 0, version: "0".to_owned(), protocol: 0 }
}

/// Connects to the daemon that the endpoint file names, or else to the default socket; `None` if nothing listens.
///
/// # Errors
/// When the socket belongs to another user, or the daemon does not accept the connection in time.
pub(super) fn probe_daemon(
    layout: &RepoLayout,
    env: &Env,
    limit: Duration,
) -> Result<Option<(DaemonConnection, Endpoint)>, ClientError> {
    match read_endpoint_file(layout)?.map(|endpoint| connect_endpoint(endpoint, layout, env, limit)) {
        Some(Ok(None)) | None => connect_endpoint(default_endpoint(layout, env), layout, env, limit),
        Some(found) => found,
    }
}

/// Connects to the daemon at `endpoint`; `None` if nothing listens.
///
/// # Errors
/// As [`probe_daemon`].
pub(super) fn connect_endpoint(
    endpoint: Endpoint,
    layout: &RepoLayout,
    env: &Env,
    limit: Duration,
) -> Result<Option<(DaemonConnection, Endpoint)>, ClientError> {
    let socket = PathBuf::from(&endpoint.socket);
    match stream::connect_stream(&socket, env, limit) {
        Ok(stream) => Ok(Some((DaemonConnection::new(stream), endpoint))),
        Err(ConnectError::Foreign(owner)) => Err(ClientError::ForeignSocket { socket, owner }),
        Err(ConnectError::Io(error)) if means_nothing_listens(&error) => Ok(None),
        Err(ConnectError::Io(error))
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            let (pid, log) = (endpoint.pid, layout.log_file());
            Err(ClientError::NoAnswer { pid, socket, log, waited_s: limit.as_secs() })
        }
        Err(ConnectError::Io(error)) => Ok(Err(error).at("connect to", &socket)?),
    }
}

/// Returns whether an error means that nothing listens.
fn means_nothing_listens(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::NotFound | Kind::NotADirectory | Kind::ConnectionRefused | Kind::ConnectionReset
    )
}
