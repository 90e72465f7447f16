//! Describes the tables of other systems' databases, and the items that their rows hold.

use memod_proto::exchange::{Draft, LinkDraft};

use super::source_row::SourceRow;

/// Approximate size of a page, bytes of text.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// One table of a system.
pub(super) struct SourceTable {
    pub(super) name: &'static str,
    /// The columns that identify it.
    pub(super) needed: &'static [&'static str],
    /// Columns that only some versions have.
    pub(super) optional: &'static [&'static str],
    /// Whether old versions lack the table.
    pub(super) may_lack: bool,
    pub(super) read: fn(&SourceRow<'_>) -> Result<SourceItem, String>,
}

/// The item in a row.
pub(super) enum SourceItem {
    Memory(Box<Draft>),
    Link(LinkDraft),
}
