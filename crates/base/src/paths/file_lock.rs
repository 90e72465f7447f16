//! Locks files, so that only one process at a time does something.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{IoContext, PathError};

/// Opens a file in order to lock it. A missing file is created with mode 0600.
///
/// # Errors
/// When the file cannot be opened or created.
pub fn open_lock_file(path: &Path) -> Result<File, PathError> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).at("open", path)
}

/// Waits for the lock of a file for at most `patience`. The lock lasts until the returned file is closed.
///
/// The system call has no time limit, so a thread waits in it. After a timeout the thread still waits, and releases the lock as
/// soon as it gets it.
///
/// # Errors
/// `TimedOut` when another process has the lock for all of that time; other kinds when the file system has no locks or no thread
/// can be started.
pub fn lock_with_timeout(file: File, patience: Duration) -> io::Result<File> {
    if file.try_lock().is_ok() {
        return Ok(file);
    }
    let (send, receive) = mpsc::sync_channel(0);
    let wait = move || {
        let locked = file.lock().map(|()| file);
        let _ = send.send(locked); // an error means that the caller gave up
    };
    thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
    receive.recv_timeout(patience).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
