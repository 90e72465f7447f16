//! The extraction process, and its limits.
//!
//! A line of JSON in, a line of JSON out, until its input ends. Linux takes time and memory away from it where the
//! budgets of `extract` do not reach: inside one step of a parser.

use std::borrow::Cow;
use std::io::{self, BufRead as _, Write as _};

use serde::{Deserialize, Serialize};

use crate::extract;

/// CPU time for one text, in seconds. More than the parsers' own budget, and a second less for what was used before.
pub(super) const CPU_S: u64 = 5;

/// Whether the process takes [`CPU_S`] to mean anything on this system.
pub(super) const IS_LIMITED: bool = cfg!(target_os = "linux");

/// Address space of the process, in bytes. A megabyte of tables, the worst that people keep, takes 200 MB.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 512 << 20;

/// One text to extract.
#[derive(Serialize, Deserialize)]
pub(super) struct Task<'a> {
    #[serde(borrow)]
    pub(super) path: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
}

impl Task<'_> {
    /// Returns the task as it goes through the pipe.
    pub(super) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("plain strings serialize");
        line.push('\n');
        line
    }
}

/// Extracts what comes on stdin, a task a line, until it ends.
///
/// # Errors
/// When a pipe breaks or the other side does not speak as we do; the process is to end then.
pub fn run() -> io::Result<()> {
    limit_memory();
    let (stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    for line in stdin.lines() {
        limit_time();
        let line = line?;
        let task: Task<'_> = serde_json::from_str(&line)?;
        let mut reply = serde_json::to_string(&extract::extract(&task.path, &task.text))?;
        reply.push('\n');
        stdout.write_all(reply.as_bytes())?;
    }
    Ok(())
}

/// Lets the process have so much memory and no core file; an allocation beyond ends it.
#[cfg(target_os = "linux")]
fn limit_memory() {
    use rustix::process::Resource;
    set_limit(Resource::As, MEMORY_BYTES);
    set_limit(Resource::Core, 0);
}

/// Lets the process have [`CPU_S`] from now on.
#[cfg(target_os = "linux")]
fn limit_time() {
    use rustix::time::{ClockId, clock_gettime};
    let used_s = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
    set_limit(rustix::process::Resource::Cpu, used_s + CPU_S);
}

/// Sets the soft limit. A refusal leaves the daemon's deadline, which is longer.
#[cfg(target_os = "linux")]
fn set_limit(resource: rustix::process::Resource, limit: u64) {
    let maximum = rustix::process::getrlimit(resource).maximum;
    let current = Some(maximum.map_or(limit, |maximum| limit.min(maximum)));
    let _ = rustix::process::setrlimit(resource, rustix::process::Rlimit { current, maximum });
}

#[cfg(not(target_os = "linux"))]
fn limit_memory() {}

#[cfg(not(target_os = "linux"))]
fn limit_time() {}
