//! Notices that a client has gone while nothing is read from it or written to it.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Calls `gone` once nobody reads the output any more, or once a client that has closed the input stops reading. Returns at
/// once; the thread that waits ends with the process.
///
/// `n_steps` counts the beginnings and the ends of writes: it is odd during one.
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

/// Does nothing: here, only a write finds out that nobody reads.
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

    /// Time that a client which has closed its end of the input may take to read one message. The SDK gives what still runs at
    /// the end of the input as long, but it sees that end only after everything before it was read.
    const AFTER_THE_INPUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

    /// A peer that has closed its end is always reported; one of a socket that has only ended its sending is on request.
    #[cfg(target_os = "linux")]
    const NOTHING_COMES: PollFlags = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    const NOTHING_COMES: PollFlags = PollFlags::empty();

    /// Waits until the client has gone.
    ///
    /// # Errors
    /// When the streams cannot be waited for.
    pub(crate) fn wait_for_hang_up(input: &File, output: &File, n_steps: &AtomicU64) -> Result<(), Errno> {
        let mut ends = [PollFd::new(output, PollFlags::empty()), PollFd::new(input, NOTHING_COMES)];
        retry_on_intr(|| poll(&mut ends, None))?;
        while !is_closed(&ends[0])? {
            let before = n_steps.load(Ordering::Relaxed);
            retry_on_intr(|| poll(&mut ends[..1], Some(&AFTER_THE_INPUT)))?;
            let is_writing = !before.is_multiple_of(2);
            if is_writing && n_steps.load(Ordering::Relaxed) == before {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether nobody reads any more.
    ///
    /// # Errors
    /// When this cannot be waited for, as for a terminal on macOS.
    fn is_closed(output: &PollFd<'_>) -> Result<bool, Errno> {
        let seen = output.revents();
        if seen.contains(PollFlags::NVAL) {
            return Err(Errno::BADF);
        }
        Ok(seen.intersects(PollFlags::HUP | PollFlags::ERR))
    }
}
