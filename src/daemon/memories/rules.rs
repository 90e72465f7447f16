//! Checks changes of memories, and converts memory records.

pub(super) mod change_stamp;
pub(super) mod memory_links;
pub(super) mod memory_rules;
pub(in crate::daemon) mod protocol_values;
pub(in crate::daemon) mod record_functions;
pub(super) mod removal_notices;
pub(super) mod render_file;
pub(super) mod share_rules;
pub(super) mod worktree_place;
