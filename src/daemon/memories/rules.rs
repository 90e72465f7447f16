//! Checks changes of memories, and converts their records.

pub(in crate::daemon) mod change_stamp;
pub(in crate::daemon) mod memory_links;
pub(in crate::daemon) mod memory_rules;
pub(in crate::daemon) mod protocol_values;
pub(in crate::daemon) mod record_functions;
pub(in crate::daemon) mod removal_notices;
pub(in crate::daemon) mod render_file;
pub(in crate::daemon) mod share_rules;
pub(in crate::daemon) mod worktree_place;
