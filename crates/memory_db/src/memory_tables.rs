//! Stores memories, their versions, histories, links and anchors.

pub(crate) mod anchor_rows;
pub(crate) mod archive_rows;
pub(crate) mod history_rows;
pub(crate) mod link_rows;
pub(crate) mod memory_filter;
pub(crate) mod note_event;
pub(crate) mod record_rows;
pub(crate) mod tally_rows;
pub(crate) mod version_rows;
