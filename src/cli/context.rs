//! Finds the worktree of a command and connects to its daemon.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::client::{Client, Options};
use crate::paths::{Env, IoContext, RepoLayout, canonical};

use super::error::CliError;
use super::text::{escape, shell_word};

/// The directory that a command runs in.
pub(super) struct CommandContext {
    /// Directories from the environment.
    pub(super) env: Env,
    /// The worktree around it.
    pub(super) layout: RepoLayout,
    /// The directory itself, absolute, as it crosses the socket.
    pub(super) cwd: String,
    /// The command to show in hints: `memo`, with `-C DIR` if it was given.
    pub(super) memo: String,
}

impl CommandContext {
    /// Finds the worktree around `dir`, or around the current directory.
    pub(super) fn find(dir: Option<&Path>) -> Result<Self, CliError> {
        let start = start(dir)?;
        let env = Env::read();
        let layout = RepoLayout::locate(&start, &env)?;
        let cwd = canonical(&start)?.into_os_string().into_string();
        let cwd = cwd.map_err(|path| CliError::NotUtf8(path.into()))?;
        let word = |dir: &Path| shell_word(&escape(&dir.display().to_string()));
        let memo = dir.map_or("memo".to_owned(), |dir| format!("memo -C {}", word(dir)));
        Ok(Self { env, layout, cwd, memo })
    }

    /// Connects to the daemon, and starts it if necessary.
    pub(super) fn connect(&self) -> Result<Client, CliError> {
        Ok(Client::connect(&self.layout, &self.env, Options::read())?)
    }

    /// Connects to the daemon if one runs.
    pub(super) fn connect_running(&self) -> Result<Client, CliError> {
        Ok(Client::connect(&self.layout, &self.env, Options::read().never_start())?)
    }

    /// Connects to the daemon if one runs and answers in time.
    pub(super) fn connect_running_within(&self, patience: Duration) -> Result<Client, CliError> {
        let options = Options { answer_within: patience, ..Options::read().never_start() };
        Ok(Client::connect(&self.layout, &self.env, options)?)
    }
}

fn start(dir: Option<&Path>) -> Result<PathBuf, CliError> {
    match dir {
        Some(dir) => Ok(dir.to_owned()),
        None => Ok(std::env::current_dir().at("find the current directory", Path::new("."))?),
    }
}
