//! Describes the tables of other systems' databases, and what is read from their rows.

use memod_proto::exchange::{Draft, LinkDraft};

use super::source_row::SourceRow;

/// Approximate size of a page, bytes of text.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// A table of another system's database.
pub(super) struct SourceTable {
    /// Name of the table.
    pub(super) name: &'static str,
    /// Columns that the table must have.
    pub(super) required_columns: &'static [&'static str],
    /// Columns that only some versions have.
    pub(super) optional_columns: &'static [&'static str],
    /// Whether some versions lack the table.
    pub(super) may_be_absent: bool,
    /// Reads a row; the error says which column is invalid, and why.
    pub(super) read: fn(&SourceRow<'_>) -> Result<SourceItem, String>,
}

/// The content of a row.
pub(super) enum SourceItem {
    /// A memory to import.
    Memory(Box<Draft>),
    /// A link to import.
    Link(LinkDraft),
}
