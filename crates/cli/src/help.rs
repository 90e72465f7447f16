//! Helps with the command line: hints, completions, manual pages and next steps.

pub(crate) mod completions;
pub(crate) mod man_pages;
pub(crate) mod next_steps;
pub(crate) mod undo_hint;
pub(crate) mod usage;
pub(crate) mod usage_hint;
pub(crate) mod words_without_verb;
