//! Gives an agent what it should know, at the start of a session and as it works.

pub(super) mod advice;
pub(super) mod briefing;
pub(super) mod kept_surveys;
