//! Shows and controls the daemon.

pub(crate) mod daemon_process;
pub(crate) mod doctor;
pub(crate) mod logs;
pub(crate) mod print_events;
pub(crate) mod serve;
pub(crate) mod status;
