//! Prevents daemons of a repository from running, and reads its memories meanwhile.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use memod_base::paths::{Env, IoContext, RepoLayout, lock_with_timeout, open_lock_file};
use memod_proto::exchange::ExportResult;

use super::{Client, ClientError, ClientOptions, spawn};

/// How long to wait for the lock of a daemon before it is asked to stop again, because a daemon that just started does not listen
/// yet.
const STOP_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Stops the daemon, and returns two locked files. While they are open, no other daemon can run.
///
/// # Errors
/// When a daemon does not stop, or another client holds the spawn lock for too long.
pub fn lock_out_daemons(
    layout: &RepoLayout,
    env: &Env,
    options: &ClientOptions,
) -> Result<[File; 2], ClientError> {
    let starting = spawn::take_spawn_lock(layout, options.ready_within * spawn::LOCK_PATIENCE_FACTOR)?;
    let give_up = Instant::now() + options.ready_within * 2;
    let path = layout.daemon_lock_file();
    loop {
        let stopped = Client::connect(layout, env, options.clone().without_start());
        match stopped.and_then(|mut client| client.ask_to_stop()) {
            Ok(_) | Err(ClientError::NotRunning { .. } | ClientError::ConnectionClosed { .. }) => {}
            Err(error) => return Err(error),
        }
        match lock_with_timeout(open_lock_file(&path)?, STOP_RETRY_INTERVAL) {
            Err(error) if error.kind() == ErrorKind::TimedOut && Instant::now() < give_up => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                let why = "a daemon still runs; end it with `memo daemon stop` and try again";
                return Ok(Err(io::Error::other(why)).at("lock", &path)?);
            }
            locked => return Ok([starting, locked.at("lock", &path)?]),
        }
    }
}

/// Reads the memories of a repository without a daemon, by a process of the daemon's program. The caller has called
/// [`lock_out_daemons`].
pub struct StoppedMemories {
    process: Child,
    lines: Receiver<Vec<u8>>,
    patience: Duration,
    state_dir: PathBuf,
}

impl StoppedMemories {
    /// Starts the process that reads the memories.
    ///
    /// # Errors
    /// When the process or a thread cannot be started.
    pub fn open(layout: &RepoLayout, options: &ClientOptions) -> Result<Self, ClientError> {
        let spawned = spawn::daemon_command("memories", layout, options).spawn();
        let mut process =
            spawned.map_err(|source| ClientError::Spawn { program: options.daemon.clone(), source })?;
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let (send, lines) = sync_channel(1);
        let opened =
            Self { process, lines, patience: options.answer_within, state_dir: layout.state_dir.clone() };
        // Reading from a pipe has no time limit, so a thread reads.
        let started = thread::Builder::new().name("memories".to_owned()).spawn(move || {
            loop {
                let mut line = Vec::new();
                let n_bytes = stdout.read_until(b'\n', &mut line).unwrap_or_default();
                if n_bytes == 0 || send.send(line).is_err() {
                    return;
                }
            }
        });
        started.at("start a thread to read", &opened.state_dir)?;
        Ok(opened)
    }

    /// Returns the next page: first the pages of the living memories, then those of the archive. The last page of each has no
    /// `next`.
    ///
    /// # Errors
    /// When the memories cannot be read.
    pub fn next_page(&mut self) -> Result<ExportResult, ClientError> {
        let page = match self.lines.recv_timeout(self.patience) {
            Ok(line) => serde_json::from_slice::<Result<ExportResult, String>>(&line)
                .unwrap_or_else(|error| Err(format!("memod printed something unexpected ({error})"))),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("memod printed nothing for {} s", self.patience.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err("memod ended before it had read all memories".to_owned())
            }
        };
        Ok(page.map_err(io::Error::other).at("read the memories in", &self.state_dir)?)
    }
}

impl Drop for StoppedMemories {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
