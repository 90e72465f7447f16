//! Defines the values of memories, events and versions.

pub(crate) mod file_version;
pub(crate) mod memory_event;
pub(crate) mod memory_record;
pub(crate) mod record_columns;
pub(crate) mod record_functions;
pub(crate) mod sharing;
