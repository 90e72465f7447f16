//! Runs `memod fetch`, which downloads models, and passes on its reports.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use memod_proto::{FETCH_HUB_VARIABLE, FETCH_INDEX_VARIABLE, FetchReportLine};

use super::{ClientError, ClientOptions, child};

/// Longest time without a report. The process itself gives up long before, after some minutes without an answer of a server.
const MAX_SILENCE: Duration = Duration::from_secs(900);

/// Largest size of a line, bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// The servers that the settings name; empty for those of the environment. The addresses may have credentials.
#[derive(Clone, Copy)]
pub struct DownloadServers<'a> {
    /// Address of the package index.
    pub index: &'a str,
    /// Address of the hub of models.
    pub hub: &'a str,
}

/// Runs `memod fetch` until everything is downloaded, and calls `listen` with each report. The process is in the foreground of the
/// terminal, so Ctrl-C ends both processes.
///
/// # Errors
/// When the process cannot be started, reports that something cannot be downloaded, ends early, or sends no report for too long.
pub fn run_fetch(
    options: &ClientOptions,
    args: &[OsString],
    servers: &DownloadServers<'_>,
    mut listen: impl FnMut(&FetchReportLine),
) -> Result<(), ClientError> {
    let mut command = Command::new(&options.daemon);
    command.arg("fetch").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    for (name, address) in [(FETCH_INDEX_VARIABLE, servers.index), (FETCH_HUB_VARIABLE, servers.hub)] {
        command.env(name, address);
    }
    child::clear_git_env(&mut command);
    let spawned = command.spawn();
    let spawned = spawned.map_err(|source| ClientError::Spawn { program: options.daemon.clone(), source });
    let mut process = FetchProcess(spawned?);
    let stdout = process.0.stdout.take().expect("stdout is piped");
    let reports = spawn_report_reader(stdout).map_err(|error| {
        not_fetched_error(format!("cannot read the output of memod fetch: {error}"), None)
    })?;
    loop {
        match reports.recv_timeout(MAX_SILENCE) {
            Ok(FetchReportLine::Done) => return Ok(()),
            Ok(FetchReportLine::Failed { error, hint }) => return Err(not_fetched_error(error, hint)),
            Ok(report) => listen(&report),
            Err(RecvTimeoutError::Timeout) => {
                let reason = format!("memod fetch has reported nothing for {} s", MAX_SILENCE.as_secs());
                return Err(not_fetched_error(reason, None));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status =
                    process.0.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                return Err(not_fetched_error(format!("memod fetch ended with {status}"), None));
            }
        }
    }
}

fn not_fetched_error(message: String, hint: Option<String>) -> ClientError {
    ClientError::NotFetched { message, hint }
}

/// The process `memod fetch`, which is killed when this value is dropped.
struct FetchProcess(Child);

impl Drop for FetchProcess {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a thread that reads the reports, because reading from a pipe has no time limit.
fn spawn_report_reader(stdout: ChildStdout) -> std::io::Result<Receiver<FetchReportLine>> {
    let (send, receive) = sync_channel(1);
    thread::Builder::new().name("fetch-reports".to_owned()).spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = String::new();
            let read = stdout.by_ref().take(MAX_LINE_BYTES).read_line(&mut line);
            let report = read.ok().and_then(|_| serde_json::from_str(&line).ok());
            let Some(report) = report else { return };
            if send.send(report).is_err() {
                return;
            }
        }
    })?;
    Ok(receive)
}
