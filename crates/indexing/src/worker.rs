//! Runs the extraction process, and limits its time and memory.
//!
//! The process reads a line of JSON and writes a line of JSON, until its input ends. On Linux its time and memory are limited,
//! because the budgets of `extract` do not apply inside one step of a parser.

use std::borrow::Cow;
use std::io::{self, BufRead as _, Write as _};

use memod_base::types::MAX_CHUNKS_PER_FILE;
use memod_extract::Extraction;
use serde::{Deserialize, Serialize};

/// CPU time for one text, in seconds. It exceeds the parsers' own budget and the part of a second that the limit may round away.
#[cfg(unix)]
pub(super) const CPU_S: u64 = 5;

/// Whether time and memory are limited on this system.
pub(super) const IS_LIMITED: bool = cfg!(target_os = "linux");

/// Address space of the process, in bytes. A megabyte of tables, the worst realistic text, takes 200 MB.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 512 << 20;

/// Most definitions of a file. A megabyte of generated functions has fewer.
const MOST_DEFINITIONS: usize = 65_536;

/// One text to extract.
#[derive(Serialize, Deserialize)]
pub(super) struct ExtractTask<'a> {
    #[serde(borrow)]
    pub(super) path: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
}

impl ExtractTask<'_> {
    /// Returns the task as a line for the pipe.
    pub(super) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("plain strings serialize");
        line.push('\n');
        line
    }
}

/// Extracts the texts of tasks from stdin, one per line, and writes the results to stdout, until stdin ends.
///
/// # Errors
/// When a pipe breaks or a line is invalid; the process must end then.
pub fn run_extract_process() -> io::Result<()> {
    limit_memory();
    let (stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    for line in stdin.lines() {
        limit_time();
        let line = line?;
        let task: ExtractTask<'_> = serde_json::from_str(&line)?;
        let mut reply =
            serde_json::to_string(&truncate_lists(memod_extract::extract(&task.path, &task.text)))?;
        reply.push('\n');
        stdout.write_all(reply.as_bytes())?;
    }
    Ok(())
}

/// Drops chunks and definitions beyond the limits, which are not indexed: everything that goes over the pipe costs time.
fn truncate_lists(mut extracted: Extraction) -> Extraction {
    let n_chunks = extracted.chunks.len();
    if n_chunks > MAX_CHUNKS_PER_FILE {
        extracted
            .problems
            .push(format!("{n_chunks} chunks; only the first {MAX_CHUNKS_PER_FILE} are indexed"));
        extracted.chunks.truncate(MAX_CHUNKS_PER_FILE);
    }
    let n_definitions = extracted.definitions.len();
    if n_definitions > MOST_DEFINITIONS {
        extracted
            .problems
            .push(format!("{n_definitions} definitions; only the first {MOST_DEFINITIONS} are known"));
        extracted.definitions.truncate(MOST_DEFINITIONS);
        extracted.structure.lacks_definitions = true;
    }
    extracted
}

/// Limits the memory of the process, so that a larger allocation ends it, and disables core files.
#[cfg(target_os = "linux")]
fn limit_memory() {
    use rustix::process::Resource;
    set_limit(Resource::As, MEMORY_BYTES);
    set_limit(Resource::Core, 0);
}

/// Limits the process to [`CPU_S`] seconds of CPU time from now on.
#[cfg(target_os = "linux")]
fn limit_time() {
    use rustix::time::{ClockId, clock_gettime};
    let used_s = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
    set_limit(rustix::process::Resource::Cpu, used_s + CPU_S);
}

/// Sets the soft limit. If that fails, the daemon's longer deadline applies.
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
