//! Do the scan and git list the same files?

mod fixture;
mod hostile;
mod listing;
mod random;
mod reading;
