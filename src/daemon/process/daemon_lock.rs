//! Locks the repository for one daemon and publishes its socket.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::paths::{
    Env, IoContext, PathError, RepoLayout, create_private_dir, open_private_file, rename_over,
};
use memod_proto::{Endpoint, PROTOCOL};

/// Time limit for taking the lock. A child of a killed daemon holds the lock until it has become `memod extract`.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lock that a daemon holds while it runs; the system releases it when the daemon dies.
pub(in crate::daemon) struct DaemonLock {
    _file: File,
}

impl DaemonLock {
    /// Takes the lock; `None` when another daemon has it.
    pub(in crate::daemon) fn acquire(layout: &RepoLayout) -> Result<Option<Self>, PathError> {
        let path = layout.daemon_lock_file();
        let file = open_private_file(&path).at("open", &path)?;
        let give_up = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _file: file })),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    std::thread::park_timeout(Duration::from_millis(5)); // no event reports a free lock
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
            }
        }
    }
}

/// Returns the path of the socket, and creates its directory, which only this user can enter. A pipe of Windows has no directory.
pub(in crate::daemon) fn prepare_socket_path(layout: &RepoLayout, env: &Env) -> Result<PathBuf, PathError> {
    if cfg!(unix) {
        create_private_dir(&RepoLayout::socket_dir(env))?;
    }
    Ok(layout.socket_path(env))
}

/// Removes the file in which the previous daemon published its socket. Otherwise a client that connects before this daemon
/// publishes its own would take this daemon for the previous one, with that one's process id and version.
pub(in crate::daemon) fn unpublish_socket(layout: &RepoLayout) {
    // If this fails, publishing fails too and reports why.
    let _ = std::fs::remove_file(layout.endpoint_file());
}

/// Publishes the path of the socket in a file, which is written under another name and renamed, so that no client reads half of it.
///
/// On a full disk, the file of the previous daemon is removed to make room. If there is still no room, nothing is published,
/// and clients try the default path of the socket.
pub(in crate::daemon) fn publish_socket(layout: &RepoLayout, socket: &Path) -> Result<(), PathError> {
    match write_endpoint(layout, socket) {
        Err(error) if is_disk_full(&error) => {}
        written => return written,
    }
    for path in [layout.endpoint_file().with_extension("new"), layout.endpoint_file()] {
        let _ = std::fs::remove_file(path); // the file may not exist
    }
    match write_endpoint(layout, socket) {
        Err(error) if is_disk_full(&error) => {
            tracing::warn!(%error, "the disk is full, so the path of the socket cannot be written to the endpoint file; clients try the default path");
            Ok(())
        }
        written => written,
    }
}

fn is_disk_full(error: &PathError) -> bool {
    matches!(error.source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn write_endpoint(layout: &RepoLayout, socket: &Path) -> Result<(), PathError> {
    let endpoint = Endpoint {
        socket: socket.display().to_string(),
        state_dir: layout.state_dir.display().to_string(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
    };
    let path = layout.endpoint_file();
    let aside = path.with_extension("new");
    let line = serde_json::to_string(&endpoint).expect("plain strings and numbers serialize") + "\n";
    std::fs::write(&aside, line).at("write", &aside)?;
    rename_over(&aside, &path).at("rename to", &path)
}
