//! Anchors memories to code, and compares the anchors with the present code.

pub(in crate::daemon) mod anchor_states;
pub(super) mod confirm_memory;
pub(in crate::daemon) mod memories_for_path;
pub(super) mod target_anchors;
