//! What does a test need of the operating system?
//!
//! Whole modules and tests under `cfg(unix)` are about what only Unix has (signals, permissions, links, FIFOs, terminals), or
//! a script of the shell stands in for a program in them.

use std::io;
use std::path::Path;
#[cfg(windows)]
use std::process::Command;

/// A connection to a daemon.
#[cfg(unix)]
pub(crate) type Stream = std::os::unix::net::UnixStream;
/// A connection to a daemon: a pipe opens as a file.
#[cfg(windows)]
pub(crate) type Stream = std::fs::File;

#[cfg(unix)]
pub(crate) fn connect(socket: impl AsRef<Path>) -> io::Result<Stream> {
    use crate::live::PATIENCE;
    let stream = Stream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Waits for an instance of the pipe that is free; a hang is for the time limit of the whole run.
#[cfg(windows)]
pub(crate) fn connect(socket: impl AsRef<Path>) -> io::Result<Stream> {
    const ALL_BUSY: i32 = 231;
    loop {
        match std::fs::File::options().read(true).write(true).open(&socket) {
            Err(error) if error.raw_os_error() == Some(ALL_BUSY) => std::thread::yield_now(),
            opened => return opened,
        }
    }
}

#[cfg(unix)]
pub(crate) fn make_executable(path: &Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
}

#[cfg(windows)]
pub(crate) fn make_executable(_path: &Path) {}

/// Ends a process without a warning; it may be gone already.
#[cfg(unix)]
pub(crate) fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL);
}

#[cfg(windows)]
pub(crate) fn kill(pid: u32) {
    let _ = Command::new("taskkill").args(["/F", "/PID", &pid.to_string()]).output().unwrap();
}

#[cfg(unix)]
pub(crate) fn symlink(target: &str, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Few users of Windows may create links.
#[cfg(windows)]
pub(crate) fn symlink(_target: &str, _link: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions())
}

/// Returns what a program printed with `[TOP]` in place of a directory.
#[cfg(unix)]
pub(crate) fn as_on_unix(text: &str, top: &str) -> String {
    text.replace(top, "[TOP]")
}

/// Returns what a program printed with `[TOP]` in place of a directory; with `/` in the paths below it, and Unix's words for
/// what is absent.
#[cfg(windows)]
pub(crate) fn as_on_unix(text: &str, top: &str) -> String {
    let json = top.replace('\\', r"\\");
    let mut text =
        text.replace(&json, "[TOP]").replace(top, "[TOP]").replace(&top.replace('\\', "/"), "[TOP]");
    for code in [2, 3] {
        let absent = io::Error::from_raw_os_error(code).to_string();
        text = text.replace(&absent, "No such file or directory (os error 2)");
    }
    let mut parts = text.split("[TOP]");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([' ', ':', '"', ',', '\n']).unwrap_or(part.len());
        shown += &["[TOP]", &part[..end].replace(r"\\", "/").replace('\\', "/"), &part[end..]].concat();
    }
    shown
}
