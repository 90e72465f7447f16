//! Connects to a named pipe.
//!
//! Windows cannot limit the time of a blocking read, but can cancel an asynchronous one. So a runtime with one thread reads.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use memod_base::paths::{Env, owner_sid, user_sid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use windows_sys::Win32::Foundation::{ERROR_PIPE_BUSY, ERROR_PIPE_NOT_CONNECTED};
use windows_sys::Win32::System::Pipes::WaitNamedPipeW;

use super::{ConnectError, time_left};

#[derive(Debug)]
pub(super) struct Stream {
    pipe: NamedPipeClient,
    runtime: Runtime,
    limit: Cell<Option<Duration>>,
}

impl Stream {
    /// Runs an operation on the pipe within the time limit.
    fn run<T>(&mut self, step: impl AsyncFnOnce(&mut NamedPipeClient) -> io::Result<T>) -> io::Result<T> {
        let Self { pipe, runtime, limit } = self;
        runtime.block_on(async {
            match limit.get() {
                Some(limit) => timeout(limit, step(pipe)).await?,
                None => step(pipe).await,
            }
        })
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.run(async |pipe| pipe.read(into).await);
        // Both codes mean that the daemon has closed the pipe.
        let is_end = |error: &io::Error| {
            error.kind() == io::ErrorKind::BrokenPipe || has_code(error, ERROR_PIPE_NOT_CONNECTED)
        };
        read.or_else(|error| if is_end(&error) { Ok(0) } else { Err(error) })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.run(async |pipe| pipe.write(bytes).await)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // flushing a pipe would wait until the daemon has read everything
    }
}

/// Connects to a pipe of this user within `limit`, even if all instances of the pipe are busy at first. Nothing is sent to a pipe
/// of another user, because anybody can create a pipe with this name while no daemon runs. Tokio opens the pipe so that the
/// server cannot impersonate this user.
pub(super) fn connect_stream(pipe: &Path, _env: &Env, limit: Duration) -> Result<Stream, ConnectError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let pipe = {
        let _inside = runtime.enter();
        open_pipe(pipe, Instant::now() + limit)?
    };
    let owner = owner_sid(&pipe)?;
    if owner != user_sid()? {
        return Err(ConnectError::Foreign(owner));
    }
    Ok(Stream { pipe, runtime, limit: None.into() })
}

fn open_pipe(pipe: &Path, deadline: Instant) -> io::Result<NamedPipeClient> {
    loop {
        match ClientOptions::new().open(pipe) {
            Err(error) if has_code(&error, ERROR_PIPE_BUSY) => wait_for_instance(pipe, time_left(deadline)?)?,
            opened => return opened,
        }
    }
}

fn has_code(error: &io::Error, expected: u32) -> bool {
    error.raw_os_error().is_some_and(|code| code.cast_unsigned() == expected)
}

/// Waits until an instance of the pipe is free. Another client may take that instance first.
#[expect(unsafe_code, reason = "tokio does not wait for a pipe")]
fn wait_for_instance(pipe: &Path, time: Duration) -> io::Result<()> {
    let name: Vec<u16> = pipe.as_os_str().encode_wide().chain([0]).collect();
    let ms = u32::try_from(time.as_millis()).unwrap_or(u32::MAX - 1).max(1); // 0 would mean the default time of the server
    // SAFETY: the name ends with 0.
    match unsafe { WaitNamedPipeW(name.as_ptr(), ms) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Sets the time limit of each following read and write; `None` means no limit.
pub(super) fn set_time_limit(stream: &Stream, time: Option<Duration>) -> io::Result<()> {
    stream.limit.set(time);
    Ok(())
}

#[cfg(test)]
mod tests {
    use interprocess::os::windows::named_pipe::{PipeListenerOptions, pipe_mode};
    use interprocess::os::windows::security_descriptor::SecurityDescriptor;

    use super::*;

    fn listen(name: &str, owner: &str) -> io::Result<impl Sized + use<>> {
        let anybody = widestring::U16CString::from_str(format!("O:{owner}D:P(A;;GA;;;WD)")).unwrap();
        let options = PipeListenerOptions::new().path(name);
        let options = options.security_descriptor(Some(SecurityDescriptor::deserialize(&anybody)?));
        options.create_duplex::<pipe_mode::Bytes>()
    }

    #[test]
    fn a_pipe_of_another_owner_is_not_used() {
        let env = Env::read();
        let connect = |name: &str| connect_stream(Path::new(name), &env, Duration::from_secs(5));
        let name = format!(r"\\.\pipe\memod-test-{}", std::process::id());
        let ours = listen(&name, &user_sid().unwrap()).unwrap();
        connect(&name).unwrap();
        drop(ours);
        let Ok(_administrators) = listen(&name, "BA") else {
            memod_testing::not_checked("a pipe of another owner, which only an administrator can make");
            return;
        };
        let refusal = connect(&name).unwrap_err();
        assert!(matches!(&refusal, ConnectError::Foreign(owner) if owner == "S-1-5-32-544"), "{refusal:?}");
    }
}
