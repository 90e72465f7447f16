//! Defines the params and results of questions about the code, its documents and its history.

pub(crate) mod advice;
pub(crate) mod brief_result;
pub(crate) mod code_history;
pub(crate) mod complete;
pub(crate) mod outline_item;
pub(crate) mod reached_definitions;
pub(crate) mod references;
pub(crate) mod search;
pub(crate) mod shown_part;

/// Returns whether a number is left out of the JSON.
fn is_zero(number: &usize) -> bool {
    *number == 0
}
