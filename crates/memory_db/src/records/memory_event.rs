//! Defines a change of a memory as the history stores it.

use serde_json::{Map, Value};

/// The action in the history of a memory that was changed by restoring a backup.
pub(crate) const RESTORED: &str = "restore_backup";

/// The source of changes that come from memory files.
pub const FILE_SOURCE: &str = "repo";

/// The source of changes that come from the team.
pub const TEAM_SOURCE: &str = "team";

/// One row of `history`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Change`")]
pub struct MemoryEvent {
    pub at: i64,
    pub action: String,
    pub author: String,
    pub source: String,
    pub fields: Map<String, Value>,
}

impl MemoryEvent {
    /// Returns an event that the daemon causes, without fields.
    pub(crate) fn new_by_daemon(at: i64, action: &str) -> Self {
        let [action, author, source] = [action, "memod", "system"].map(str::to_owned);
        Self { at, action, author, source, fields: Map::new() }
    }

    /// Returns an event that a memory file causes, with the daemon as author and without fields.
    pub(crate) fn new_by_file(at: i64, action: &str) -> Self {
        Self { source: FILE_SOURCE.to_owned(), ..Self::new_by_daemon(at, action) }
    }
}

/// Returns the time when a memory was last changed by restoring a backup, unix ms; 0 if never. The restored version may be older
/// than this time.
pub(crate) fn restored_at(history: &[MemoryEvent]) -> i64 {
    history
        .iter()
        .filter(|change| change.action == RESTORED)
        .map(|change| change.at)
        .max()
        .unwrap_or_default()
}
