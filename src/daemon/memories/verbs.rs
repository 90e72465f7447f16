//! Answers the methods that change memories.

pub(super) mod add_memory;
pub(super) mod consolidate_memories;
pub(super) mod link_memories;
pub(super) mod merge_memories;
pub(super) mod recall_memories;
pub(super) mod remove_memories;
pub(super) mod share_memories;
pub(super) mod update_memory;
