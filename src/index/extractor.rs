//! Who extracts a text, so that no text can take the daemon down?
//!
//! A process of its own: the parsers are C, and a single step of theirs may take a minute and gigabytes. The process
//! limits itself ([`super::worker`]); what outlives that is killed from here.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::IndexError;
use super::worker::{self, Task};
use crate::extract::Extracted;

/// How long a reply may take; only a process that was stopped, or whose limits do not hold here, takes longer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often somebody may kill the process over one content before the content is left out (design 11).
const STRIKES_OUT: usize = 2;

/// Extracts one text after the other, in a process that is started for the first.
pub struct Extractor {
    program: PathBuf,
    process: Option<Process>,
}

impl Extractor {
    /// `program` is `memod`, which is called as `memod extract`.
    pub fn new(program: &Path) -> Self {
        Self { program: program.to_owned(), process: None }
    }

    /// Returns the program that is run.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Finds everything in one source; the inner error says why it is to be left out.
    ///
    /// # Errors
    /// When no process can be started, which says nothing of the text.
    pub fn extract(&mut self, path: &str, text: &str) -> Result<Result<Extracted, String>, IndexError> {
        let task = Task { path: path.into(), text: text.into() }.to_line();
        let mut strikes = 0;
        loop {
            let process = match self.process.take() {
                Some(process) => process,
                None => Process::start(&self.program).map_err(IndexError::Extractor)?,
            };
            match process.ask(task.clone()) {
                Ok((extracted, process)) => {
                    self.process = Some(process);
                    return Ok(Ok(extracted));
                }
                Err(ending) => {
                    strikes += 1;
                    if !ending.was_killed || strikes == STRIKES_OUT {
                        return Ok(Err(ending.why));
                    }
                }
            }
        }
    }
}

/// Why there is no reply.
struct Ending {
    why: String,
    /// By somebody outside, or by a system short of memory: that may have nothing to do with the text.
    was_killed: bool,
}

impl Ending {
    fn own(why: String) -> Self {
        Self { why, was_killed: false }
    }
}

/// One `memod extract`. Dropped, it is killed.
struct Process {
    child: Child,
    tasks: Sender<String>,
    replies: Receiver<String>,
}

impl Process {
    fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, "memod");
        command.arg("extract").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.expect("both were asked for");
        let (tasks, task_queue) = channel();
        let (reply_sender, replies) = channel();
        // Only a thread can wait for a pipe with a deadline on every system.
        let exchange = move || exchange(stdin, stdout, &task_queue, &reply_sender);
        let process = Self { child, tasks, replies };
        thread::Builder::new().name("extract-pipe".to_owned()).spawn(exchange)?;
        Ok(process)
    }

    /// Returns the reply, and the process for the next task.
    fn ask(mut self, task: String) -> Result<(Extracted, Self), Ending> {
        let _ = self.tasks.send(task); // it fails when the process has ended, and then there is no reply
        match self.replies.recv_timeout(REPLY_TIMEOUT) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(extracted) => Ok((extracted, self)),
                Err(error) => Err(Ending::own(format!("extraction replied nonsense: {error}"))),
            },
            Err(RecvTimeoutError::Timeout) => {
                Err(Ending::own(format!("extraction took over {} s", REPLY_TIMEOUT.as_secs())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ending()),
        }
    }

    fn ending(&mut self) -> Ending {
        let _ = self.child.kill(); // it has ended, or closed its pipe, which is as bad
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return Ending::own(format!("extraction ended: {error}")),
        };
        match signal(status) {
            Some(Signal::OutOfTime) => {
                Ending::own(format!("extraction took over {} s of CPU time", worker::CPU_S))
            }
            Some(Signal::Kill) => Ending { why: "extraction was killed".to_owned(), was_killed: true },
            None => Ending::own(format!("extraction ended with {status}")),
        }
    }
}

/// Signals that tell more than that the process has ended.
enum Signal {
    OutOfTime,
    Kill,
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<Signal> {
    match std::os::unix::process::ExitStatusExt::signal(&status) {
        Some(libc::SIGXCPU) => Some(Signal::OutOfTime),
        Some(libc::SIGKILL) => Some(Signal::Kill),
        _ => None,
    }
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<Signal> {
    None
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a process that is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Carries tasks and replies until one side is gone.
fn exchange(mut stdin: ChildStdin, stdout: ChildStdout, tasks: &Receiver<String>, replies: &Sender<String>) {
    let mut stdout = BufReader::new(stdout);
    for task in tasks {
        let mut line = String::new();
        let replied = stdin.write_all(task.as_bytes()).and_then(|()| stdout.read_line(&mut line));
        if !replied.is_ok_and(|n_bytes| n_bytes > 0) || replies.send(line).is_err() {
            return;
        }
    }
}
