//! Connects to a Unix socket.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use memod_base::paths::{Env, owner_uid};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use super::ConnectError;

pub(super) use std::os::unix::net::UnixStream as Stream;

/// Connects to a socket of this user within `limit`, even if a suspended daemon has left the backlog of connections full.
///
/// `UnixStream::connect` cannot be used, because it has no time limit and would then wait forever.
pub(super) fn connect_stream(socket: &Path, env: &Env, limit: Duration) -> Result<Stream, ConnectError> {
    let meta = fs::symlink_metadata(socket).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    if let Some(owner) = owner_uid(&meta).filter(|owner| *owner != env.uid) {
        return Err(ConnectError::Foreign(format!("uid {owner}")));
    }
    Ok(connect_socket(socket, limit)?)
}

fn connect_socket(socket: &Path, limit: Duration) -> io::Result<Stream> {
    let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, socket_flags(), None)?;
    set_socket_timeout(&fd, Timeout::Send, Some(limit))?;
    rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?)?;
    Ok(Stream::from(fd))
}

/// Sets the time limit of each following read and write; `None` means no limit.
pub(super) fn set_time_limit(stream: &Stream, time: Option<Duration>) -> io::Result<()> {
    stream.set_read_timeout(time)?;
    stream.set_write_timeout(time)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn socket_flags() -> SocketFlags {
    SocketFlags::CLOEXEC
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn socket_flags() -> SocketFlags {
    SocketFlags::empty()
}
