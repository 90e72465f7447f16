//! Sends and receives lines over a Unix socket or a named pipe.
//!
//! `unix` and `windows` have the differences between platforms; the rest handles deadlines and splits lines.

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
    /// Another user listens, with this name.
    Foreign(String),
    /// The operating system refused the connection.
    Io(io::Error),
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Longest line, bytes; a listing of a million paths is shorter.
const MAX_LINE: usize = 256 << 20;

/// An open connection.
#[derive(Debug)]
pub(super) struct DaemonConnection {
    stream: BufReader<Stream>,
}

impl DaemonConnection {
    fn new(stream: Stream) -> Self {
        Self { stream: BufReader::with_capacity(64 << 10, stream) }
    }

    /// Writes one line that ends with its newline.
    pub(super) fn send_line(&mut self, line: &[u8], deadline: Instant) -> io::Result<()> {
        stream::set_time_limit(self.stream.get_ref(), Some(time_left(deadline)?))?;
        self.stream.get_mut().write_all(line)
    }

    /// Reads one line; `TimedOut` or `WouldBlock` after the deadline, `UnexpectedEof` at the end.
    pub(super) fn read_line(&mut self, deadline: Instant) -> io::Result<Vec<u8>> {
        self.read_line_until(Some(deadline))
    }

    /// Reads one line, and waits for it for ever; `UnexpectedEof` at the end.
    pub(super) fn read_line_whenever(&mut self) -> io::Result<Vec<u8>> {
        if self.stream.buffer().is_empty() {
            stream::set_time_limit(self.stream.get_ref(), None)?;
        }
        self.read_line_until(None)
    }

    fn read_line_until(&mut self, deadline: Option<Instant>) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            // `send_line` has set the limit of the stream; it is set again only if a line arrives in pieces.
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
            if line.len() > MAX_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of more than 256 MiB"));
            }
        }
    }

    /// Reads until the other end closes; false after the deadline.
    pub(super) fn wait_for_end(&mut self, deadline: Instant) -> bool {
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

/// Returns the remaining time, never zero.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let rest = deadline.saturating_duration_since(Instant::now());
    if rest.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(rest) }
}

/// Returns the published endpoint; `None` if it is absent or invalid.
///
/// Invalid text is ignored, because a starting daemon publishes itself again. The file of a repository that was copied or
/// moved names the daemon of the original.
pub(super) fn published_endpoint(layout: &RepoLayout) -> Result<Option<Endpoint>, ClientError> {
    let file = layout.endpoint_file();
    match read_file(&file) {
        Err(error) if is_absent(&error) => Ok(None),
        read => {
            let text = read.at("read", &file)?;
            Ok(serde_json::from_slice(&text).ok().filter(|endpoint| is_of(endpoint, layout)))
        }
    }
}

/// Makes a daemon check its files after its repository was moved, so that it notices and ends. It gets no event if a
/// directory further up has moved.
pub(super) fn prompt_file_check(layout: &RepoLayout, env: &Env, limit: Duration) {
    let Ok(text) = read_file(&layout.endpoint_file()) else { return };
    let Ok(endpoint) = serde_json::from_slice::<Endpoint>(&text) else { return };
    if is_of(&endpoint, layout) {
        return;
    }
    let Ok(stream) = stream::connect_stream(Path::new(&endpoint.socket), env, limit) else { return };
    let params = serde_json::json!({ "cwd": layout.root, "sync": "none" });
    let call = serde_json::json!({ "jsonrpc": "2.0", "id": 0, "method": "sync", "params": params });
    let deadline = Instant::now() + limit;
    let mut connection = DaemonConnection::new(stream);
    // Whatever the answer, the lock shows whether the daemon is gone.
    let _ = connection.send_line(format!("{call}\n").as_bytes(), deadline);
    let _ = connection.read_line(deadline);
}

fn is_of(endpoint: &Endpoint, layout: &RepoLayout) -> bool {
    let theirs = Path::new(&endpoint.state_dir);
    // A directory that is mounted at two paths has one daemon, which reports the path that it serves.
    endpoint.state_dir.is_empty() || theirs == layout.state_dir || is_same_dir(theirs, &layout.state_dir)
}

/// Returns the usual endpoint of a daemon whose endpoint file is lost or not written yet.
///
/// No daemon has version 0 and protocol 0, so `hello` will be asked.
fn default_endpoint(layout: &RepoLayout, env: &Env) -> Endpoint {
    let socket = layout.socket_path(env).display().to_string();
    let state_dir = layout.state_dir.display().to_string();
    Endpoint { socket, state_dir, pid: 0, version: "0".to_owned(), protocol: 0 }
}

/// Connects to the published daemon; `None` if nothing listens.
///
/// # Errors
/// When the socket is not ours, or the daemon does not accept in time.
pub(super) fn probe_daemon(
    layout: &RepoLayout,
    env: &Env,
    limit: Duration,
) -> Result<Option<(DaemonConnection, Endpoint)>, ClientError> {
    match published_endpoint(layout)?.map(|endpoint| connect_endpoint(endpoint, layout, env, limit)) {
        Some(Ok(None)) | None => connect_endpoint(default_endpoint(layout, env), layout, env, limit),
        Some(found) => found,
    }
}

/// Connects to the daemon at `endpoint`; `None` if nothing listens.
///
/// # Errors
/// See [`probe_daemon`].
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
        Err(ConnectError::Io(error)) if is_absent(&error) => Ok(None),
        Err(ConnectError::Io(error))
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            let (pid, log) = (endpoint.pid, layout.log_file());
            Err(ClientError::Hung { pid, socket, log, waited_s: limit.as_secs() })
        }
        Err(ConnectError::Io(error)) => Ok(Err(error).at("connect to", &socket)?),
    }
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::NotFound | Kind::NotADirectory | Kind::ConnectionRefused | Kind::ConnectionReset
    )
}
