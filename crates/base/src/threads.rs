//! Turns panics of threads into errors, locks what a panic has left, and waits.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Runs code, and returns the message of its panic if it panics. What the code was changing may be left half changed.
///
/// # Errors
/// When it panics.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_message(&*panic).to_owned())
}

/// Locks a mutex, also after its holder panicked. The guarded value must be whole whenever code that may panic runs.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits, where there is no event to wait for.
pub fn pause(time: Duration) {
    let end = Instant::now() + time;
    // Parking may end early, so it is repeated.
    while let Some(rest) = end.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
        thread::park_timeout(rest);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for no reason given")
}
