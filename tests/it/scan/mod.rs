//! Do the scan and git list the same files?

mod fixture;
#[cfg(unix)]
mod hostile;
mod listing;
mod random;
mod reading;
