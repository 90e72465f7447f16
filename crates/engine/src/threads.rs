//! Starts the daemon's named threads.

use std::thread::{Builder, JoinHandle};

use anyhow::Context as _;

/// Starts a thread with a name.
///
/// # Errors
/// When the system has no room for another thread.
pub fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> anyhow::Result<JoinHandle<()>> {
    let thread = Builder::new().name(name.to_owned()).spawn(run);
    thread.with_context(|| format!("cannot start the thread {name}"))
}
