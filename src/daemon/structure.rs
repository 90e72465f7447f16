//! Answers `refs`, `callers` and the other questions about uses, and `outline`, `map` and `show`.

pub(super) mod file_outline;
pub(super) mod repo_map;
pub(super) mod show_code;
pub(super) mod uses;
