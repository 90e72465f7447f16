//! Answers `refs`, `callers` and their kin, `outline`, `map` and `show`.

pub(super) mod kept_maps;
pub(super) mod outlining;
pub(super) mod references;
pub(super) mod repo_map;
pub(super) mod show_code;
