//! The daemon: keeps the index of one repository current and answers queries.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use memod::daemon::{self, DaemonEnd};
use memod_base::paths::Env;
use memod_bench::BenchArgs;
use memod_embed::onnx::{RuntimeLocations, model_process};
use memod_fetch::{DEFAULT_HUB_URL, FetchRequest, Hub};
use memod_indexing::worker;
use memod_proto::{FETCH_HUB_VARIABLE, FETCH_INDEX_VARIABLE, FetchReportLine, Ready};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: daemon::ReserveAllocator = daemon::ReserveAllocator;

/// Keeps one repository's index current and answers on a local socket. `memo` starts it when needed.
#[derive(Parser)]
#[command(version)]
struct DaemonArgs {
    #[command(subcommand)]
    verb: DaemonVerb,
}

#[derive(Subcommand)]
enum DaemonVerb {
    /// Serve the repository until it is idle or asked to stop.
    Run {
        /// A directory in the worktree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
        /// Stay attached to the terminal.
        #[arg(long)]
        foreground: bool,
        /// Index nothing until a request needs the index.
        #[arg(long, hide = true)]
        index_on_demand: bool,
    },
    /// Measure answers to your own questions
    ///
    /// Example: memod bench quality questions.jsonl
    Bench(BenchArgs),
    /// Check whether a daemon could serve the repository, even while another daemon does. Prints the line that a ready daemon prints.
    #[command(hide = true)]
    Check {
        /// A directory in the worktree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Write all memories to stdout for the parent process, which keeps daemons from running meanwhile.
    #[command(hide = true)]
    Memories {
        /// A directory in the worktree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Extract chunks and definitions from texts, for the daemon that is the parent of this process.
    #[command(hide = true)]
    Extract,
    /// Download ONNX Runtime and a model for `memo`, and report the progress as lines of JSON.
    #[command(hide = true)]
    Fetch {
        /// Directory in which models and ONNX Runtime are cached.
        #[arg(long)]
        cache_dir: PathBuf,
        /// Path of the ONNX Runtime library that the settings name.
        #[arg(long)]
        runtime: Option<PathBuf>,
        /// Name of the model to install.
        #[arg(long)]
        model: Option<String>,
        /// Give up after this many seconds without received data.
        #[arg(long, default_value_t = 30)]
        patience: u64,
    },
    /// Run a model for the daemon that is the parent of this process.
    #[command(hide = true)]
    Embed {
        /// Directory of the model.
        #[arg(long)]
        model: PathBuf,
        /// Identity that the model in the directory must have.
        #[arg(long)]
        identity: String,
        /// Path of the ONNX Runtime library.
        #[arg(long)]
        runtime: PathBuf,
        /// Run with a low priority.
        #[arg(long)]
        in_background: bool,
    },
}

fn main() -> ExitCode {
    match DaemonArgs::parse().verb {
        DaemonVerb::Run { root, foreground, index_on_demand } => run(root, foreground, index_on_demand),
        DaemonVerb::Bench(typed) => ExitCode::from(memod_bench::run_bench(typed)),
        DaemonVerb::Check { root } => print_start_check(&root),
        DaemonVerb::Memories { root } => print_memories(&root),
        // If the model process fails, the daemon sees the pipe close and reports that.
        DaemonVerb::Embed { model: model_dir, identity, runtime, in_background } => {
            let start = model_process::StartOptions { model_dir, identity, runtime, in_background };
            model_process::run_model_process(&start).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        DaemonVerb::Fetch { cache_dir, runtime: setting, model, patience } => {
            let runtime = RuntimeLocations {
                from_variable: Env::read().onnx_runtime,
                from_setting: setting,
                cache_dir,
            };
            let index = read_first_variable(&[
                FETCH_INDEX_VARIABLE,
                "UV_DEFAULT_INDEX",
                "UV_INDEX_URL",
                "PIP_INDEX_URL",
            ]);
            let url = read_first_variable(&[FETCH_HUB_VARIABLE, "HF_ENDPOINT"])
                .unwrap_or_else(|| DEFAULT_HUB_URL.to_owned());
            let hub = Hub { url, token: read_first_variable(&["HF_TOKEN"]) };
            let (program, patience) = (daemon::program_path(), Duration::from_secs(patience));
            program.map_or(ExitCode::FAILURE, |program| {
                fetch_with_reports(&FetchRequest { runtime, index, model, hub, program, patience })
            })
        }
        DaemonVerb::Extract => {
            worker::run_extract_process().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
    }
}

fn run(root: PathBuf, foreground: bool, index_on_demand: bool) -> ExitCode {
    if !foreground {
        detach_process();
    }
    let root = std::path::absolute(&root).unwrap_or(root);
    let ready = Box::new(|| print_ready(&Ready { ready: true, ..Ready::default() }));
    match daemon::run(&root, index_on_demand, ready) {
        Ok(DaemonEnd::Served) => ExitCode::SUCCESS,
        Ok(DaemonEnd::AlreadyRunning) => {
            print_refusal("another daemon serves this repository".to_owned(), None)
        }
        Err(error) => print_refusal(daemon::error_chain(&error), daemon::find_hint(&error)),
    }
}

/// Returns the value of the first of these environment variables that is set and not empty.
fn read_first_variable(names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty())
}

/// Downloads the library and the model if they are missing, and prints each progress report as a line of JSON.
fn fetch_with_reports(wanted: &FetchRequest) -> ExitCode {
    let mut report = |report: &FetchReportLine| {
        let mut line = serde_json::to_string(report).map_err(std::io::Error::from)?;
        line.push('\n');
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush())
    };
    let (last, exit) = match memod_fetch::fetch_missing(wanted, &mut report) {
        Ok(()) => (FetchReportLine::Done, ExitCode::SUCCESS),
        Err(error) => {
            let hint = error.hint().map(str::to_owned);
            (FetchReportLine::Failed { error: daemon::error_chain(&error.into()), hint }, ExitCode::FAILURE)
        }
    };
    let _ = report(&last); // the client may be gone
    exit
}

fn print_start_check(root: &Path) -> ExitCode {
    match daemon::check_start(root) {
        Ok(()) => {
            print_ready(&Ready { ready: true, ..Ready::default() });
            ExitCode::SUCCESS
        }
        Err(error) => print_refusal(daemon::error_chain(&error), daemon::find_hint(&error)),
    }
}

/// Writes all memories to stdout, or the reason why they cannot be read.
fn print_memories(root: &Path) -> ExitCode {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = daemon::print_memories(root, &mut out)
        .or_else(|error| Ok(writeln!(out, "{}", json!({ "Err": daemon::error_chain(&error) }))?));
    let written = printed.and_then(|()| Ok::<_, anyhow::Error>(out.flush()?));
    written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS) // the parent notices missing lines
}

/// Prints the reason why no daemon starts; returns the exit code for that, 3.
fn print_refusal(error: String, hint: Option<&str>) -> ExitCode {
    print_ready(&Ready { error: Some(error), hint: hint.map(str::to_owned), ..Ready::default() });
    ExitCode::from(3)
}

/// Writes a line to the client that waits at the other end of stdout, then releases stdout.
fn print_ready(ready: &Ready) {
    let line = serde_json::to_string(ready).expect("plain strings serialize");
    let mut stdout = std::io::stdout();
    // The client may be gone.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    #[cfg(unix)]
    release_stdout();
}

/// Replaces stdout by /dev/null, because the parent may wait until stdout is closed.
#[cfg(unix)]
fn release_stdout() {
    if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// Leaves the session and closes inherited descriptors above 2, so that the pipe of a git hook does not stay open.
fn detach_process() {
    #[cfg(unix)]
    {
        rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO); // only this user may read the files
        // This fails for the leader of a process group, which needs no new session.
        let _ = rustix::process::setsid();
        close_inherited();
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way to close descriptors that somebody else opened")]
fn close_inherited() {
    // SAFETY: called first in `main`, before this process has opened anything; 0 to 2 are left alone. musl has no function
    // for this call.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
#[expect(unsafe_code, reason = "there is no safe way to close descriptors that somebody else opened")]
fn close_inherited() {
    for descriptor in 3..1_024 {
        // SAFETY: called first in `main`, before this process has opened anything; 0 to 2 are left alone.
        unsafe {
            libc::close(descriptor);
        }
    }
}
