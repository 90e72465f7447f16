//! Describes the tables of foreign databases and what their rows mean.

use super::row::Fields;
use crate::proto::exchange::{Draft, LinkDraft};

/// Size of a page, in bytes of text, roughly.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// One table of a system, and what its rows mean.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Without these it is another system's.
    pub(super) needed: &'static [&'static str],
    /// What some versions have.
    pub(super) optional: &'static [&'static str],
    /// Old versions do not have the table.
    pub(super) may_lack: bool,
    pub(super) read: fn(&Fields<'_>) -> Result<Read, String>,
}

/// What a row is.
pub(super) enum Read {
    Memory(Box<Draft>),
    Link(LinkDraft),
}
