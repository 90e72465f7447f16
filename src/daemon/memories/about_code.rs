//! Anchors memories to code, and compares them with it.

pub(in crate::daemon) mod anchor_states;
pub(super) mod confirm_memory;
pub(in crate::daemon) mod memories_for_path;
pub(super) mod target_anchors;
