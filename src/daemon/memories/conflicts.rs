//! Resolves conflicts between the user's version of a memory and that of a file or of the team.

mod conflict_outcome;
pub(super) mod resolve_file;
pub(super) mod resolve_own;
pub(super) mod resolve_team;
