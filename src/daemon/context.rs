//! Gives an agent the brief at the start of a session, and advice while it works.

pub(super) mod advice;
pub(super) mod briefing;
