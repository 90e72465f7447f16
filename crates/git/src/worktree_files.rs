//! Finds out how git treats the files of a worktree: tracked, ignored, converted, or part of another repository.

pub(crate) mod attributes;
mod encodings;
pub(crate) mod nested;
pub(crate) mod patterns;
pub(crate) mod tracked;
