//! Finds the worktree of a command and connects to its daemon.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memod_base::paths::{CallerDir, Env, IoContext, LocateError, RepoLayout, canonicalize_path};
use memod_client::{Client, ClientOptions, wait_until_daemon_lock_free};

use crate::error::CliError;
use crate::text::{escape_for_display, shell_word};

/// Longest wait for the file system while the worktree of a directory is located.
const LOCATE_TIMEOUT: Duration = Duration::from_secs(10);

/// The environment, the worktree and the directory that a command runs in.
pub struct CommandContext {
    /// Directories from the environment.
    pub env: Env,
    /// The worktree around the directory.
    pub layout: RepoLayout,
    /// Absolute path of the directory, as requests to the daemon carry it.
    pub cwd: String,
    /// The command to show in hints: `memo`, or `memo -C DIR` if `-C` was given.
    pub memo_command: String,
    /// The client that sends requests; the daemon stores its name with each memory that it adds.
    pub client: &'static str,
    /// Name of the agent that sends requests, if an agent does.
    pub agent: Option<String>,
}

impl CommandContext {
    /// Finds the worktree around `dir`, or around the current directory.
    pub fn find(dir: Option<&Path>) -> Result<Self, CliError> {
        Self::find_with(dir, RepoLayout::locate)
    }

    /// Like [`Self::find`], but also accepts a directory outside git that has no index. Creates nothing.
    pub fn find_including_unindexed(dir: Option<&Path>) -> Result<Self, CliError> {
        Self::find_with(dir, RepoLayout::locate_or_assume_root)
    }

    fn find_with(dir: Option<&Path>, find: LocateFn) -> Result<Self, CliError> {
        let (env, layout, cwd) = locate_with_timeout(&dir_or_current_dir(dir)?, find)?;
        let cwd = cwd.into_os_string().into_string().map_err(|path| CliError::NotUtf8(path.into()))?;
        let dir_word = dir.map(|dir| shell_word(&escape_for_display(&dir.display().to_string())));
        let memo = dir_word.map_or("memo".to_owned(), |word| format!("memo -C {word}"));
        Ok(Self { env, layout, cwd, memo_command: memo, client: "cli", agent: None })
    }

    /// Returns the context with this client and agent. For the client `mcp`, paths start at the top of the worktree, as the
    /// instructions of the MCP server say.
    pub fn for_client(self, client: &'static str, agent: Option<String>) -> Self {
        let top = (client == "mcp").then(|| self.layout.root.to_str()).flatten().map(str::to_owned);
        Self { client, agent, cwd: top.unwrap_or(self.cwd), ..self }
    }

    /// Like [`Self::find`], but also accepts a directory outside git that has no index, and records that it is to be indexed.
    pub fn find_or_register(dir: Option<&Path>) -> Result<Self, CliError> {
        let context = Self::find_with(dir, RepoLayout::locate_or_assume_root)?;
        if context.layout.git_dir.is_none() {
            context.layout.request_index_outside_git(&context.env)?;
        }
        Ok(context)
    }

    /// Returns the caller's directory, from which shown paths start.
    pub fn caller_dir(&self) -> CallerDir {
        CallerDir::new(&self.layout, Path::new(&self.cwd))
    }

    /// Connects to the daemon, and starts it if necessary.
    pub fn connect(&self) -> Result<Client, CliError> {
        Ok(Client::connect(&self.layout, &self.env, ClientOptions::read())?)
    }

    /// Connects to the daemon. If none runs, starts one that does not index until a request needs the index.
    pub fn connect_without_indexing(&self) -> Result<Client, CliError> {
        let options = ClientOptions { index_on_demand: true, ..ClientOptions::read() };
        Ok(Client::connect(&self.layout, &self.env, options)?)
    }

    /// Connects to the daemon if one runs.
    pub fn connect_running(&self) -> Result<Client, CliError> {
        Ok(Client::connect(&self.layout, &self.env, ClientOptions::read().without_start())?)
    }

    /// Waits until no process holds the daemon's lock on the repository: a daemon that is stopping holds it, but answers no more.
    pub fn wait_for_daemon_exit(&self) -> Result<(), CliError> {
        Ok(wait_until_daemon_lock_free(&self.layout, &self.env, &ClientOptions::read())?)
    }

    /// Connects to the daemon if one runs and answers in time.
    pub fn connect_running_within(&self, patience: Duration) -> Result<Client, CliError> {
        let options = ClientOptions { answer_within: patience, ..ClientOptions::read().without_start() };
        Ok(Client::connect(&self.layout, &self.env, options)?)
    }
}

type LocateFn = fn(&Path, &Env) -> Result<RepoLayout, LocateError>;

/// Finds the worktree around a directory, and the directory's canonical path. Uses a second thread, because a file system that
/// hangs would block the calling thread forever.
fn locate_with_timeout(start: &Path, find: LocateFn) -> Result<(Env, RepoLayout, PathBuf), CliError> {
    let (reply, answer) = mpsc::sync_channel(1);
    let dir = start.to_owned();
    let spawned = thread::Builder::new().name("locate".to_owned()).spawn(move || {
        let env = Env::read();
        let layout = find(&dir, &env);
        let found =
            layout.map_err(CliError::from).and_then(|layout| Ok((env, layout, canonicalize_path(&dir)?)));
        let _ = reply.send(found); // fails only after the time limit, when nobody waits any more
    });
    spawned.at("start a thread to open", start)?;
    answer.recv_timeout(LOCATE_TIMEOUT).unwrap_or_else(|_| {
        let why = format!("its file system has not answered within {} s", LOCATE_TIMEOUT.as_secs());
        Ok(Err(io::Error::new(io::ErrorKind::TimedOut, why)).at("open", start)?)
    })
}

fn dir_or_current_dir(dir: Option<&Path>) -> Result<PathBuf, CliError> {
    match dir {
        Some(dir) => Ok(dir.to_owned()),
        None => Ok(std::env::current_dir().at("find the current directory", Path::new("."))?),
    }
}
