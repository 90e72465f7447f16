//! Lists the reasons for which a client gets no answer.

use std::path::PathBuf;

use memod_base::paths::PathError;
use memod_proto::{PROTOCOL, RpcError};

/// Why a daemon cannot be reached, or does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Access to a file of the state dir failed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No daemon runs, and the client must not start one.
    #[error("no daemon runs for {}", root.display())]
    NotRunning {
        /// Top directory of the worktree.
        root: PathBuf,
    },
    /// The published socket belongs to another user.
    #[error("{}: owned by {owner}, not by us", socket.display())]
    ForeignSocket {
        /// As published.
        socket: PathBuf,
        /// Its owner: a uid, or on Windows a security identifier.
        owner: String,
    },
    /// The daemon's program cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The daemon started, and reported why it cannot run.
    #[error("the daemon did not start: {message}")]
    Refused {
        /// Its message.
        message: String,
        /// Its hint.
        hint: Option<String>,
    },
    /// The daemon ended or stopped responding before it was ready.
    #[error("the daemon did not become ready: {reason}")]
    NotReady {
        /// Its exit status, or the time waited.
        reason: String,
        /// The log, which may have more.
        log: PathBuf,
    },
    /// Something could not be downloaded.
    #[error("{message}")]
    NotFetched {
        /// The subject, its source and the cause.
        message: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// Another client holds the spawn lock.
    #[error("{}: another client has been starting a daemon for {waited_s} s", lock.display())]
    SpawnLock {
        /// The lock.
        lock: PathBuf,
        /// Seconds waited.
        waited_s: u64,
    },
    /// Connected, but no answer in time.
    #[error("the daemon (pid {pid}) did not answer on {} within {waited_s} s", socket.display())]
    Hung {
        /// Its process id, as published.
        pid: u32,
        /// Where it listens.
        socket: PathBuf,
        /// The log, which may have more.
        log: PathBuf,
        /// Seconds waited.
        waited_s: u64,
    },
    /// The connection ended before the answer, more than once.
    #[error("the daemon (pid {pid}) closed {} without an answer", socket.display())]
    Gone {
        /// Its process id, as published.
        pid: u32,
        /// Where it listened.
        socket: PathBuf,
        /// The log, which may have more.
        log: PathBuf,
    },
    /// The reply is invalid.
    #[error("{}: not an answer: {reason}", socket.display())]
    Garbage {
        /// Where it came from.
        socket: PathBuf,
        /// The fault in it.
        reason: String,
    },
    /// The daemon is newer and speaks another protocol.
    #[error(
        "the daemon is version {daemon} (protocol {protocol}), this client is {client} (protocol {PROTOCOL})"
    )]
    NewerDaemon {
        /// Version of the daemon.
        daemon: String,
        /// Protocol of the daemon.
        protocol: u32,
        /// Version of this client.
        client: String,
    },
    /// A daemon did not stop when asked to.
    #[error("the daemon (pid {pid}, version {version}) did not stop within {waited_s} s")]
    Lingers {
        /// Its process id.
        pid: u32,
        /// Its version.
        version: String,
        /// Seconds waited.
        waited_s: u64,
    },
    /// A daemon runs, and cannot be asked.
    #[error("a daemon runs, for it holds {}, but nothing answers on {}", lock.display(), socket.display())]
    Unreachable {
        /// The lock that a daemon holds.
        lock: PathBuf,
        /// Where it should listen.
        socket: PathBuf,
    },
    /// The daemon was to be replaced by one that would not start.
    #[error("nothing was restarted, the daemon (pid {pid}, version {version}) serves on: {source}")]
    Stays {
        /// Its process id.
        pid: u32,
        /// Its version.
        version: String,
        /// Why the other one would not start.
        source: Box<ClientError>,
    },
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
}
