//! Holds the hook that `memo hooks install` writes.

/// The text of our own hook.
pub const DOORBELL: &str = include_str!("doorbell.sh");
