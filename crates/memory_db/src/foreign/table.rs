//! Describes the tables of foreign databases and what their rows mean.

use memod_proto::exchange::{Draft, LinkDraft};

use super::row::Fields;

/// Size of a page, in bytes of text, roughly.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// One table of a system.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns that identify it.
    pub(super) needed: &'static [&'static str],
    /// Columns that only some versions have.
    pub(super) optional: &'static [&'static str],
    /// Whether old versions lack the table.
    pub(super) may_lack: bool,
    pub(super) read: fn(&Fields<'_>) -> Result<Read, String>,
}

/// The meaning of a row.
pub(super) enum Read {
    Memory(Box<Draft>),
    Link(LinkDraft),
}
