//! Searches, lists and compares memories.

pub(in crate::daemon) mod dedupe;
pub(in crate::daemon) mod memory_hits;
pub(super) mod near_memories;
mod near_rule;
pub(in crate::daemon) mod pinned_memories;
pub(in crate::daemon) mod queries;
pub(in crate::daemon) mod read_records;
pub(in crate::daemon) mod search_scope;
