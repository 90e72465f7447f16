//! Starts the process that runs a model, gives it tasks, and ends it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::model_process::{LoadReply, ModelTask, StartOptions, TaskReply};

/// Time limit for loading a model, shorter than the 30 seconds for which a client waits for the daemon. A large model on a slow
/// disk takes several seconds.
const LOAD_LIMIT: Duration = Duration::from_secs(25);

/// Time limit for a task of at most 8 texts in a background process.
const BACKGROUND_REPLY_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for the vector of a query, which usually takes milliseconds. After the limit, a search uses words only.
pub(super) const QUERY_LIMIT: Duration = Duration::from_secs(5);

/// Longest line of a reply, bytes. A reply of 8 vectors with 4,096 numbers each takes less than 1 MB.
const MAX_REPLY_BYTES: u64 = 16 << 20;

/// Longest part of a process's error output that an error message quotes, bytes.
const MAX_QUOTED_STDERR_BYTES: usize = 300;

/// A running process `memod embed`. Dropping this value kills the process.
pub(super) struct ModelProcess {
    child: Child,
    tasks: Sender<String>,
    replies: Receiver<String>,
    reply_limit: Duration,
    stderr: Option<ChildStderr>,
}

impl ModelProcess {
    /// Starts the process, and waits until the model is loaded. `program` is the path of `memod`.
    pub(super) fn start(program: &Path, start: &StartOptions) -> Result<Self, String> {
        let mut process =
            Self::spawn(program, start).map_err(|error| format!("its process cannot be started: {error}"))?;
        match process.receive_reply::<LoadReply>(LOAD_LIMIT)? {
            LoadReply { is_ready: true, .. } => Ok(process),
            LoadReply { error, .. } => Err(error.unwrap_or_else(|| "the model cannot be loaded".to_owned())),
        }
    }

    /// Spawns the process and the thread that exchanges lines with it.
    fn spawn(program: &Path, start: &StartOptions) -> io::Result<Self> {
        let mut command = Command::new(program);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.arg0("memod").process_group(0); // a terminal interrupts the daemon alone
        }
        command.arg("embed").arg("--model").arg(&start.model_dir).arg("--runtime").arg(&start.runtime);
        command.arg("--identity").arg(&start.identity);
        if start.in_background {
            command.arg("--in-background");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.expect("both were asked for");
        let stderr = child.stderr.take();
        let (tasks, task_queue) = channel();
        let (reply_sender, replies) = channel();
        let reply_limit = if start.in_background { BACKGROUND_REPLY_LIMIT } else { QUERY_LIMIT };
        let process = Self { child, tasks, replies, reply_limit, stderr };
        // Not every system can read a pipe with a deadline, so a thread reads the pipe.
        let exchange = move || exchange_lines(stdin, stdout, &task_queue, &reply_sender);
        thread::Builder::new().name("embed-pipe".to_owned()).spawn(exchange)?;
        Ok(process)
    }

    /// Runs a task. Returns one vector for each text, or a vector with a single score if the model is a cross-encoder; `None` for a
    /// text without either. After an error the process must not be used again.
    pub(super) fn run_task(&mut self, task: &ModelTask) -> Result<Vec<Option<Vec<f32>>>, String> {
        let n_texts = task.texts.len();
        let mut line = serde_json::to_string(task).expect("plain strings serialize");
        line.push('\n');
        let _ = self.tasks.send(line); // it fails when the process has ended, and then there is no reply
        match self.receive_reply::<TaskReply>(self.reply_limit)? {
            TaskReply { error: Some(error), .. } => Err(error),
            TaskReply { vectors, .. } if vectors.len() == n_texts => Ok(vectors),
            TaskReply { vectors, .. } => {
                Err(format!("its process sent {} vectors for {n_texts} texts", vectors.len()))
            }
        }
    }

    /// Waits for the next line of the process's output, at most for `limit`, and parses the line.
    fn receive_reply<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, String> {
        match self.replies.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|error| format!("its process sent an invalid reply: {error}")),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("its process did not reply within {} s", limit.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.kill_and_describe_end()),
        }
    }

    /// Kills the process if it still runs; returns its exit status and the end of its error output as a message.
    fn kill_and_describe_end(&mut self) -> String {
        let _ = self.child.kill(); // fails only if the process has ended already
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let said = self.stderr.take().map(|stderr| io::read_to_string(stderr).unwrap_or_default());
        let said = said.unwrap_or_default();
        let said = said.trim();
        let from = said.ceil_char_boundary(said.len().saturating_sub(MAX_QUOTED_STDERR_BYTES));
        if said.is_empty() {
            format!("its process ended with {status}")
        } else {
            format!("its process ended with {status}: {}", said[from..].replace('\n', " "))
        }
    }

    /// Returns the resident memory of the process, bytes; 0 where `/proc` does not report it.
    pub(super) fn rss_bytes(&self) -> u64 {
        let rollup = format!("/proc/{}/smaps_rollup", self.child.id());
        let text = std::fs::read_to_string(rollup).unwrap_or_default();
        let kib = text
            .lines()
            .find_map(|line| line.strip_prefix("Rss:")?.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) << 10
    }
}

impl Drop for ModelProcess {
    fn drop(&mut self) {
        // Both calls fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Forwards one line of the process's output to `replies`; returns whether both ends still exist.
fn forward_reply(stdout: &mut BufReader<ChildStdout>, replies: &Sender<String>) -> bool {
    let mut line = String::new();
    let is_read = stdout.by_ref().take(MAX_REPLY_BYTES).read_line(&mut line).is_ok();
    is_read && line.ends_with('\n') && replies.send(line).is_ok()
}

/// Writes each task to the process and forwards its reply, until either end is closed.
fn exchange_lines(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    tasks: &Receiver<String>,
    replies: &Sender<String>,
) {
    let mut stdout = BufReader::new(stdout);
    if !forward_reply(&mut stdout, replies) {
        return;
    }
    for task in tasks {
        if stdin.write_all(task.as_bytes()).is_err() || !forward_reply(&mut stdout, replies) {
            return;
        }
    }
}
