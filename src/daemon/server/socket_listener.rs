//! Binds the socket or the named pipe and accepts connections.

#[cfg(unix)]
pub(in crate::daemon) use unix::SocketListener;
#[cfg(windows)]
pub(in crate::daemon) use windows::SocketListener;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    use tokio::net::UnixListener;

    type Stream = tokio::net::UnixStream;

    /// A bound socket that only this user may connect to.
    pub(in crate::daemon) struct SocketListener {
        listener: UnixListener,
        path: PathBuf,
        inode: u64,
    }

    impl SocketListener {
        /// Binds a socket with a temporary name, restricts its permissions, and renames it to `path`. So no client ever sees a
        /// socket with wider permissions, and a stale socket is replaced atomically.
        pub(in crate::daemon) fn bind(path: &Path) -> io::Result<Self> {
            let aside = path.with_extension("new");
            let _ = std::fs::remove_file(&aside); // absent, or left by a daemon that died here
            let listener = UnixListener::bind(&aside)?;
            std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o600))?;
            let inode = std::fs::symlink_metadata(&aside)?.ino();
            std::fs::rename(&aside, path)?;
            Ok(Self { listener, path: path.to_owned(), inode })
        }

        /// Waits for the next connection of this user, and rejects those of other users.
        pub(in crate::daemon) async fn accept(&mut self) -> io::Result<Stream> {
            loop {
                let (stream, _) = self.listener.accept().await?;
                let peer = stream.peer_cred()?.uid();
                if peer == memod_base::paths::effective_uid() {
                    return Ok(stream);
                }
                tracing::warn!(peer, "turned away another user");
            }
        }
    }

    impl Drop for SocketListener {
        fn drop(&mut self) {
            if std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode) {
                let _ = std::fs::remove_file(&self.path); // a leftover is replaced by the next daemon
            }
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::os::windows::io::{AsHandle as _, AsRawHandle as _};
    use std::path::Path;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use interprocess::os::windows::named_pipe::tokio::{DuplexPipeStream, PipeListener};
    use interprocess::os::windows::named_pipe::{PipeListenerOptions, pipe_mode};
    use interprocess::os::windows::security_descriptor::SecurityDescriptor;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use windows_sys::Win32::System::Pipes::DisconnectNamedPipe;

    /// The daemon's end of a connection.
    ///
    /// A shutdown waits until the client has read everything. Dropping the stream without a shutdown discards unread bytes:
    /// otherwise a client that writes and does not read would wait for ever, and so would the thread that waits for the client.
    pub(in crate::daemon) struct PipeStream {
        pipe: DuplexPipeStream<pipe_mode::Bytes>,
        has_unread: bool,
    }

    impl AsyncRead for PipeStream {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.pipe).poll_read(context, into)
        }
    }

    impl AsyncWrite for PipeStream {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.has_unread = true;
            Pin::new(&mut self.pipe).poll_write(context, bytes)
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(())) // only a shutdown waits until the client has read everything
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            let flushed = ready!(Pin::new(&mut self.pipe).poll_shutdown(context));
            self.has_unread = flushed.is_err();
            Poll::Ready(flushed)
        }
    }

    impl Drop for PipeStream {
        #[expect(unsafe_code, reason = "interprocess ends no connection with unread bytes")]
        fn drop(&mut self) {
            if self.has_unread {
                // SAFETY: the handle is open.
                unsafe { DisconnectNamedPipe(self.pipe.as_handle().as_raw_handle()) };
                self.pipe.assume_flushed();
            }
        }
    }

    /// A named pipe that only this user can open, from this machine. No other server can have a pipe of this name, because
    /// interprocess creates the first instance of a pipe, or fails.
    pub(in crate::daemon) struct SocketListener {
        listener: PipeListener<pipe_mode::Bytes, pipe_mode::Bytes>,
    }

    impl SocketListener {
        /// Creates the pipe at `path`.
        pub(in crate::daemon) fn bind(path: &Path) -> io::Result<Self> {
            // The owner is named, because a pipe that an administrator creates would otherwise belong to the group of
            // administrators.
            let user = memod_base::paths::user_sid()?;
            let owner_only = widestring::U16CString::from_str(format!("O:{user}D:P(A;;GA;;;{user})"))
                .map_err(io::Error::other)?;
            let options = PipeListenerOptions::new()
                .path(path.as_os_str())
                .accept_remote(false)
                .security_descriptor(Some(SecurityDescriptor::deserialize(&owner_only)?));
            Ok(Self { listener: options.create_tokio_duplex()? })
        }

        /// Waits for the next connection.
        pub(in crate::daemon) async fn accept(&mut self) -> io::Result<PipeStream> {
            let pipe = self.listener.accept().await?;
            Ok(PipeStream { pipe, has_unread: false })
        }
    }

    #[cfg(test)]
    mod tests {
        use std::io::Write as _;

        use memod_base::paths::{access_list, owner_sid, user_sid};
        use tokio::io::AsyncWriteExt as _;

        use super::*;

        #[tokio::test]
        async fn the_pipe_is_ours_alone() {
            let name = format!(r"\\.\pipe\memod-listen-{}", std::process::id());
            let _listener = SocketListener::bind(Path::new(&name)).unwrap();
            let mut only = tokio::net::windows::named_pipe::ServerOptions::new();
            if only.first_pipe_instance(true).create(&name).is_ok() {
                memod_testing::not_checked("that a pipe has one server, which wine 8 does not see to");
            } else {
                assert!(SocketListener::bind(Path::new(&name)).is_err(), "another server has the name");
            }
            let pipe = std::fs::File::options().read(true).write(true).open(&name).unwrap();
            let user = user_sid().unwrap();
            assert_eq!(owner_sid(&pipe).unwrap(), user);
            let list = access_list(&pipe).unwrap();
            let entries: Vec<&str> = list.split('(').skip(1).collect();
            assert!(
                matches!(entries[..], [only] if only.starts_with("A;;") && only.ends_with(&format!(";;;{user})"))),
                "{list}"
            );
        }

        #[tokio::test]
        async fn a_client_that_does_not_read_is_let_go() {
            let name = format!(r"\\.\pipe\memod-listen-unread-{}", std::process::id());
            let mut listener = SocketListener::bind(Path::new(&name)).unwrap();
            let mut client = std::fs::File::options().read(true).write(true).open(&name).unwrap();
            let mut stream = listener.accept().await.unwrap();
            stream.write_all(b"unread").await.unwrap();
            drop(stream);
            let written = (0..100).try_for_each(|_| client.write_all(&[0; 1 << 16]));
            assert!(written.is_err(), "it would wait for ever");
        }
    }
}
