//! Converts panics into errors, locks mutexes regardless of poisoning, and sleeps.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Runs a function and returns its value. After a panic, the values that the function was changing may be left half changed.
///
/// # Errors
/// The message of the panic, when the function panics.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_message(&*panic).to_owned())
}

/// Locks a mutex, also if a thread panicked while it held the mutex. So the guarded value must be consistent whenever code that may
/// panic runs.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps for this time; only for callers that have no event to wait for.
pub fn pause(time: Duration) {
    let end = Instant::now() + time;
    // `park_timeout` may return early, so it is repeated.
    while let Some(rest) = end.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
        thread::park_timeout(rest);
    }
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no panic message")
}
