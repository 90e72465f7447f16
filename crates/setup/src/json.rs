//! Edits JSON with comments, without changing any byte that is not ours.

pub(crate) mod config_value;
pub(crate) mod json_edit;
pub(crate) mod json_insert;
pub(crate) mod json_part;
pub(crate) mod json_remove;
pub(crate) mod json_tree;
pub(crate) mod our_command;
