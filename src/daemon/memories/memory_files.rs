//! Converts, writes and checks the files of shared memories.

pub(in crate::daemon) mod check_files;
pub(super) mod exchanged_files;
pub(super) mod file_conversion;
pub(super) mod place_files;
pub(super) mod plan_files;
pub(super) mod recover_files;
