//! Runs extraction in a process of its own.
//!
//! The parsers are written in C, and a single step may take a minute and gigabytes. The process limits itself
//! ([`super::worker`]), and is killed from here if it outlives its limits.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memod_base::threads::lock;
use memod_extract::Extraction;

use super::worker::{self, ExtractTask};
use super::{IndexError, Progress};

/// Time limit for a reply. Only a stopped process, or one without working limits, takes longer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of aborted parses after which a content is not indexed.
const MAX_ABORTS: usize = 2;

/// Interval at which a wait for a reply checks whether the daemon is stopping.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Extracts texts one after the other, in a process that the first one starts.
pub struct Extractor {
    program: PathBuf,
    progress: Arc<Progress>,
    process: Option<ExtractProcess>,
}

/// Why a text was not extracted.
pub struct ExtractFailure {
    /// The reason, for the log.
    pub(crate) why: String,
    /// Whether the text itself is the cause; otherwise a later attempt may succeed.
    pub(crate) is_caused_by_text: bool,
}

impl Extractor {
    /// Returns an extractor that runs `program`, which is `memod`, as `memod extract`.
    pub fn new(program: &Path, progress: &Arc<Progress>) -> Self {
        Self { program: program.to_owned(), progress: Arc::clone(progress), process: None }
    }

    /// Extracts one text. The inner error is why it was not extracted.
    ///
    /// # Errors
    /// When no process can be started, when the process fails on any text, and when the daemon is stopping.
    pub fn extract(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<Result<Extraction, ExtractFailure>, IndexError> {
        let mut n_aborts = 0;
        loop {
            match self.run_task(path, text)? {
                Ok(extracted) => return Ok(Ok(extracted)),
                Err(ExtractFailure { is_caused_by_text: false, .. }) if n_aborts + 1 < MAX_ABORTS => {
                    n_aborts += 1;
                }
                Err(left_out) => {
                    // An empty text shows whether the text or the process is the cause.
                    return match self.run_task("nothing.txt", "")? {
                        Ok(_) => Ok(Err(left_out)),
                        Err(ExtractFailure { why, .. }) => Err(IndexError::Extractor(io::Error::other(why))),
                    };
                }
            }
        }
    }

    /// Runs one task, in the running process or in a new one.
    fn run_task(&mut self, path: &str, text: &str) -> Result<Result<Extraction, ExtractFailure>, IndexError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => ExtractProcess::start(&self.program).map_err(IndexError::Extractor)?,
        };
        let task = ExtractTask { path: path.into(), text: text.into() }.to_line();
        let reply = process.run_task(task, &self.progress);
        if self.progress.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        Ok(reply.map(|(extracted, process)| {
            self.process = Some(process);
            extracted
        }))
    }
}

/// A few extractors that the threads of all worktrees share. An extractor is lent only while a text is extracted, which needs no
/// file: a hanging file system holds none of them.
pub(super) struct ExtractorPool {
    /// The extractors that are not lent, the one used last at the end: its process most likely still runs.
    free: Mutex<Vec<Extractor>>,
    returned: Condvar,
}

impl ExtractorPool {
    /// Returns a pool of `n` extractors; `program` is `memod`.
    pub(super) fn new(program: &Path, progress: &Arc<Progress>, n: usize) -> Self {
        let free = (0..n).map(|_| Extractor::new(program, progress)).collect();
        Self { free: Mutex::new(free), returned: Condvar::new() }
    }

    /// Does the same as [`Extractor::extract`], with an extractor that is free.
    ///
    /// # Errors
    /// See [`Extractor::extract`].
    pub(super) fn extract(
        &self,
        path: &str,
        text: &str,
    ) -> Result<Result<Extraction, ExtractFailure>, IndexError> {
        let mut free = self.lock_free_extractors();
        let extractor = loop {
            match free.pop() {
                Some(extractor) => break extractor,
                None => free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(free);
        let mut lent = LentExtractor { pool: self, extractor: Some(extractor) };
        lent.extractor.as_mut().expect("it is given back by the drop alone").extract(path, text)
    }

    /// Ends the processes of all extractors but one, to release their memory.
    pub(super) fn stop_all_but_one(&self) {
        let mut free = self.lock_free_extractors();
        let n_others = free.len().saturating_sub(1);
        free[..n_others].iter_mut().for_each(|extractor| extractor.process = None);
    }

    fn lock_free_extractors(&self) -> MutexGuard<'_, Vec<Extractor>> {
        lock(&self.free)
    }
}

/// An extractor that is given back even by a panic.
struct LentExtractor<'a> {
    pool: &'a ExtractorPool,
    extractor: Option<Extractor>,
}

impl Drop for LentExtractor<'_> {
    fn drop(&mut self) {
        self.pool.lock_free_extractors().extend(self.extractor.take());
        self.pool.returned.notify_one();
    }
}

impl ExtractFailure {
    /// Returns a failure that the text itself has caused.
    fn caused_by_text(why: String) -> Self {
        Self { why, is_caused_by_text: true }
    }
}

/// A process that runs `memod extract`, and is killed when this is dropped.
struct ExtractProcess {
    child: Child,
    tasks: Sender<String>,
    replies: Receiver<String>,
}

impl ExtractProcess {
    fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.arg0("memod").process_group(0); // a terminal interrupts the daemon only
        }
        command.arg("extract").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.expect("both were asked for");
        let (tasks, task_queue) = channel();
        let (reply_sender, replies) = channel();
        // Not every system can read a pipe with a deadline, so a thread reads it.
        let transfer = move || exchange_tasks_and_replies(stdin, stdout, &task_queue, &reply_sender);
        let process = Self { child, tasks, replies };
        thread::Builder::new().name("extract-pipe".to_owned()).spawn(transfer)?;
        Ok(process)
    }

    /// Sends a task; returns the reply, and the process for the next task.
    fn run_task(mut self, task: String, progress: &Progress) -> Result<(Extraction, Self), ExtractFailure> {
        let _ = self.tasks.send(task); // this fails if the process has ended, and then there is no reply
        let until = Instant::now() + REPLY_TIMEOUT;
        loop {
            match self.replies.recv_timeout(CANCEL_CHECK_INTERVAL) {
                Ok(line) => {
                    let extracted = serde_json::from_str(&line);
                    return extracted
                        .map(|extracted| (extracted, self))
                        .map_err(|error| invalid_reply_failure(&error));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until || progress.is_cancelled() => {
                    let why = format!("extraction took over {} s", REPLY_TIMEOUT.as_secs());
                    // The process has a limit on CPU time, so it was stopped or the system is overloaded.
                    return Err(ExtractFailure { why, is_caused_by_text: !worker::IS_LIMITED });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.kill_and_explain()),
            }
        }
    }

    /// Kills the process; returns why its text was not extracted.
    fn kill_and_explain(&mut self) -> ExtractFailure {
        let _ = self.child.kill(); // it has ended, or closed its pipe, which is as bad
        match self.child.wait() {
            Ok(status) => explain_exit(status),
            Err(error) => ExtractFailure::caused_by_text(format!("extraction ended: {error}")),
        }
    }
}

/// Returns the error for a reply that does not parse.
fn invalid_reply_failure(error: &serde_json::Error) -> ExtractFailure {
    ExtractFailure::caused_by_text(format!("extraction sent an invalid reply: {error}"))
}

/// Returns why a text was not extracted, after the process ended with this status.
#[cfg(unix)]
fn explain_exit(status: ExitStatus) -> ExtractFailure {
    // Signals that the process itself can cause. Others come from outside, or from a system that is short of memory.
    const OWN: [i32; 6] =
        [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGTRAP];
    match std::os::unix::process::ExitStatusExt::signal(&status) {
        Some(libc::SIGXCPU) => {
            ExtractFailure::caused_by_text(format!("extraction took over {} s of CPU time", worker::CPU_S))
        }
        Some(signal) if !OWN.contains(&signal) => {
            ExtractFailure { why: format!("extraction was aborted: {status}"), is_caused_by_text: false }
        }
        _ => ExtractFailure::caused_by_text(format!("extraction ended with {status}")),
    }
}

#[cfg(not(unix))]
fn explain_exit(status: ExitStatus) -> ExtractFailure {
    ExtractFailure::caused_by_text(format!("extraction ended with {status}"))
}

impl Drop for ExtractProcess {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes tasks to the process and passes on its replies, until one side is gone.
fn exchange_tasks_and_replies(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    tasks: &Receiver<String>,
    replies: &Sender<String>,
) {
    let mut stdout = BufReader::new(stdout);
    for task in tasks {
        let mut line = String::new();
        let replied = stdin.write_all(task.as_bytes()).and_then(|()| stdout.read_line(&mut line));
        if !replied.is_ok_and(|n_bytes| n_bytes > 0) || replies.send(line).is_err() {
            return;
        }
    }
}
