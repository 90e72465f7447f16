//! Detects that a client has closed the connection while nothing is read or written.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Starts a thread that calls `gone` once the client has closed the output, or has closed the input and no longer reads. The
/// thread ends with the process.
///
/// `n_steps` counts the beginnings and the ends of writes, so it is odd during a write.
///
/// # Errors
/// When no thread can be started.
#[cfg(unix)]
pub(crate) fn watch_for_hang_up(
    input: &File,
    output: &File,
    n_steps: Arc<AtomicU64>,
    gone: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let (input, output) = (input.try_clone()?, output.try_clone()?);
    std::thread::Builder::new().name("mcp-hang-up".to_owned()).spawn(move || {
        if unix::wait_for_hang_up(&input, &output, &n_steps).is_ok() {
            gone();
        }
    })?;
    Ok(())
}

/// Does nothing: on this platform, only a failing write shows that the client has closed the output.
#[cfg(not(unix))]
pub(crate) fn watch_for_hang_up(_: &File, _: &File, _: Arc<AtomicU64>, _: impl FnOnce()) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, retry_on_intr};

    /// Time that a client which has closed the input may take to read one message. The SDK gives running requests the same time
    /// at the end of the input, but it sees that end only after it has read everything before.
    const READ_TIMEOUT_AFTER_INPUT_END: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

    /// Event that `poll` must report besides the default: the peer of a socket has only shut down its sending side.
    #[cfg(target_os = "linux")]
    const NOTHING_COMES: PollFlags = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    const NOTHING_COMES: PollFlags = PollFlags::empty();

    /// Waits until the client has closed the output, or has closed the input and no longer reads.
    ///
    /// # Errors
    /// When the streams cannot be polled.
    pub(crate) fn wait_for_hang_up(input: &File, output: &File, n_steps: &AtomicU64) -> Result<(), Errno> {
        let mut ends = [PollFd::new(output, PollFlags::empty()), PollFd::new(input, NOTHING_COMES)];
        retry_on_intr(|| poll(&mut ends, None))?;
        while !is_output_closed(&ends[0])? {
            let before = n_steps.load(Ordering::Relaxed);
            retry_on_intr(|| poll(&mut ends[..1], Some(&READ_TIMEOUT_AFTER_INPUT_END)))?;
            let is_writing = !before.is_multiple_of(2);
            if is_writing && n_steps.load(Ordering::Relaxed) == before {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether the client has closed the output.
    ///
    /// # Errors
    /// When the output cannot be polled, such as a terminal on macOS.
    fn is_output_closed(output: &PollFd<'_>) -> Result<bool, Errno> {
        let seen = output.revents();
        if seen.contains(PollFlags::NVAL) {
            return Err(Errno::BADF);
        }
        Ok(seen.intersects(PollFlags::HUP | PollFlags::ERR))
    }
}
