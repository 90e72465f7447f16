//! Embeds the git hook that `memo hooks install` writes.

/// The text of the hook, a shell script that appends to the doorbell file.
pub const DOORBELL_HOOK_TEXT: &str = include_str!("doorbell.sh");
