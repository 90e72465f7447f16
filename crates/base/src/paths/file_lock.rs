//! Locks files that keep processes apart.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{IoContext, PathError};

/// Opens a file for its lock, and creates it for us alone if it is not there.
///
/// # Errors
/// When it cannot be opened or created.
pub fn open_lock(path: &Path) -> Result<File, PathError> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).at("open", path)
}

/// Locks a file, for as long as the returned one is open.
///
/// Locking has no time limit, so a thread waits. The thread outlives a timeout, but then drops the locked file at once.
///
/// # Errors
/// `TimedOut` when somebody else still has the lock then; otherwise when the file system has no locks.
pub fn lock_within(file: File, patience: Duration) -> io::Result<File> {
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    let (send, receive) = mpsc::sync_channel(0);
    let wait = move || {
        let locked = file.lock().map(|()| file);
        let _ = send.send(locked); // nobody waits any more
    };
    thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
    receive.recv_timeout(patience).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
