//! Declares the reasons why a client gets no answer.

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
        /// Path of the socket, as the endpoint file names it.
        socket: PathBuf,
        /// The owner of the socket: a uid, or on Windows a security identifier.
        owner: String,
    },
    /// The daemon's program cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Spawn {
        /// Path of the program.
        program: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The daemon started, and reported why it cannot run.
    #[error("the daemon did not start: {message}")]
    StartRefused {
        /// The message of the daemon.
        message: String,
        /// The hint of the daemon.
        hint: Option<String>,
    },
    /// The daemon ended or stopped responding before it was ready.
    #[error("the daemon did not become ready: {reason}")]
    NotReady {
        /// How the daemon ended, or how long the client waited.
        reason: String,
        /// The log of the daemon, which may show the reason.
        log: PathBuf,
    },
    /// Something could not be downloaded.
    #[error("{message}")]
    NotFetched {
        /// Message with the file, its source and the cause.
        message: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// Another client has held the spawn lock for too long.
    #[error("{}: gave up after {waited_s} s, because another client is still starting a daemon", lock.display())]
    SpawnLockTimeout {
        /// Path of the lock.
        lock: PathBuf,
        /// Seconds waited.
        waited_s: u64,
    },
    /// The client is connected to the daemon, but gets no answer in time.
    #[error("the daemon (pid {pid}) did not answer on {} within {waited_s} s", socket.display())]
    NoAnswer {
        /// Process id of the daemon, as the endpoint file names it.
        pid: u32,
        /// The socket of the daemon.
        socket: PathBuf,
        /// The log of the daemon, which may show the reason.
        log: PathBuf,
        /// Seconds waited.
        waited_s: u64,
    },
    /// The daemon closed the connection before the answer, also after reconnecting.
    #[error("the daemon (pid {pid}) closed {} without an answer", socket.display())]
    ConnectionClosed {
        /// Process id of the daemon, as the endpoint file names it.
        pid: u32,
        /// The socket of the daemon.
        socket: PathBuf,
        /// The log of the daemon, which may show the reason.
        log: PathBuf,
    },
    /// The reply is invalid.
    #[error("{}: invalid answer: {reason}", socket.display())]
    InvalidAnswer {
        /// The socket from which the reply came.
        socket: PathBuf,
        /// The fault in the reply.
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
    NotStopped {
        /// Process id of the daemon.
        pid: u32,
        /// Version of the daemon.
        version: String,
        /// Seconds waited.
        waited_s: u64,
    },
    /// A daemon holds its lock, but does not listen on its socket.
    #[error("a daemon holds the lock {}, but nothing answers on {}", lock.display(), socket.display())]
    NotListening {
        /// The lock that a daemon holds.
        lock: PathBuf,
        /// The socket on which the daemon should listen.
        socket: PathBuf,
    },
    /// The daemon was not replaced, because the new program could not serve.
    #[error("the daemon (pid {pid}, version {version}) was not restarted and keeps running: {source}")]
    NotReplaced {
        /// Process id of the daemon.
        pid: u32,
        /// Version of the daemon.
        version: String,
        /// Why the new program could not serve.
        source: Box<ClientError>,
    },
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
}
