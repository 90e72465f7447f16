//! Turns panics into errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code, and returns the message of its panic if it panics. What the code was changing may be left half changed.
///
/// # Errors
/// When it panics.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| message(&*panic).to_owned())
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for no reason given")
}
