//! Determines from a history when a backup brought a memory back.

use super::MemoryEvent;

/// The action in the history of a memory that a backup brought back or reverted.
pub(super) const RESTORED: &str = "restore_backup";

/// Returns when a memory was last brought back by a backup, unix ms: the version that this brought back may be older.
pub(super) fn restored_at(history: &[MemoryEvent]) -> i64 {
    history
        .iter()
        .filter(|change| change.action == RESTORED)
        .map(|change| change.at)
        .max()
        .unwrap_or_default()
}
