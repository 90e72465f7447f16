//! Defines the params and results of methods about the daemon, its index, models, hooks and events.

pub(crate) mod event_params;
pub(crate) mod fetch_report;
pub(crate) mod health;
pub(crate) mod hooks_result;
pub(crate) mod index_progress;
pub(crate) mod llm;
pub(crate) mod model;
pub(crate) mod serve;
