//! Sets memod up in a repository, for agents and on this machine, and uninstalls it.

pub(crate) mod config_verb;
pub(crate) mod demo;
pub(crate) mod fetch_model;
pub(crate) mod hooks;
pub(crate) mod init;
pub(crate) mod model;
pub(crate) mod setup;
pub(crate) mod uninstall;
