//! Finds definitions by name, and compares those of two versions of a file.

pub(super) mod definition_diff;
pub(super) mod named_definitions;
pub(super) mod similar_targets;
pub(super) mod type_members;
pub(super) mod unindexed_files;
