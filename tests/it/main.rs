//! Does the whole behave, seen from outside?

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests are read, not called, and may panic in what they call"
)]

mod scan;
