//! Searches, and prints hits.

mod asked_uses;
pub(crate) mod example_query;
pub(crate) mod explain_hits;
pub(crate) mod fit_to_budget;
pub(crate) mod hits;
pub(crate) mod last_search;
mod leading_note;
mod uses_question;
