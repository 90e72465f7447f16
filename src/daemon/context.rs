//! Gives an agent the brief at the start of a session, and advice as it works.

pub(super) mod advice;
pub(super) mod briefing;
