//! Runs `memo mcp`: lends the verbs to the server for agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::args::{self, CommandLine, Global, McpArgs, ProfileArg, Verb};
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_FAILED};
use super::output::{Kept, talk};
use crate::mcp::{Answer, Failure, Indexing, Profile, Verbs};
use crate::proto::{Sync, SyncParams, SyncResult};

/// Longest wait for an answer about progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs a command and keeps what it would have written.
type Keep = fn(CommandLine) -> (CliResult, Kept);

/// Serves one client until its input ends; returns the exit status.
pub(super) fn serve(typed: &McpArgs, global: &Global, keep: Keep) -> u8 {
    let profile = match typed.profile {
        ProfileArg::Default => Profile::Default,
        ProfileArg::Full => Profile::Full,
    };
    match crate::mcp::serve(profile, Arc::new(InProcess { dir: global.dir.clone(), keep })) {
        Ok(()) => 0,
        Err(error) => {
            talk(&format!("memo: {error}"));
            EXIT_FAILED
        }
    }
}

/// Returns the error for `memo mcp` where nothing could read its answers.
pub(super) fn nested() -> CliError {
    refused("memo mcp serves agents on stdin and stdout", "run it as a program of its own")
}

/// Runs verbs on the threads of this process.
struct InProcess {
    /// The directory of `-C`.
    dir: Option<PathBuf>,
    keep: Keep,
}

impl Verbs for InProcess {
    fn run(&self, words: Vec<String>) -> Answer {
        let has_stdin = words.iter().any(|word| word == "-");
        let mut typed = match args::parse(std::iter::once("memo".to_owned()).chain(spelled_out(words))) {
            Ok(typed) => typed,
            Err(error) => return explained(&error),
        };
        if let Err(error) = check(&typed, has_stdin) {
            return of_error(&error, Kept::default());
        }
        typed.global.client = "mcp";
        if let Some(dir) = &self.dir {
            typed.verb.start_files_at(dir);
            typed.global.dir = Some(dir.clone());
        }
        if let Err(error) = check_files(&typed.verb) {
            return of_error(&error, Kept::default());
        }
        match (self.keep)(typed) {
            (Ok(_), Kept { text, json, notes }) => Answer { text, json, notes, failure: None },
            (Err(error), kept) => of_error(&error, kept),
        }
    }

    fn root(&self) -> Result<PathBuf, Failure> {
        let context = CommandContext::find(self.dir.as_deref());
        context.map(|context| context.layout.root).map_err(|error| failure(&error))
    }

    fn indexing(&self) -> Option<Indexing> {
        let context = CommandContext::find(self.dir.as_deref()).ok()?;
        let mut client = context.connect_running_within(PATIENCE).ok()?;
        let params = SyncParams { cwd: context.cwd, sync: Sync::Fs, wait_ms: Some(0) };
        let now: SyncResult = client.call("sync", &params).ok()?;
        (!now.fresh && now.total_files > 0)
            .then_some(Indexing { done: now.done_files, total: now.total_files })
    }
}

/// Returns `VERB --help` for `help VERB`.
fn spelled_out(mut words: Vec<String>) -> Vec<String> {
    if words.first().is_some_and(|word| word == "help") {
        words.remove(0);
        words.push("--help".to_owned());
    }
    words
}

/// Refuses what cannot work, or must not, without a terminal.
fn check(typed: &CommandLine, has_stdin: bool) -> Result<(), CliError> {
    match &typed.verb {
        _ if typed.global.dir.is_some() => Err(refused(
            "-C: the server answers in the directory where it was started",
            "start another one there",
        )),
        Verb::Shell | Verb::Mcp(_) | Verb::Completions { .. } | Verb::Man { .. } => {
            Err(refused("this verb needs a terminal", "run it in a shell"))
        }
        Verb::Setup(_) => {
            Err(refused("memo setup changes files outside the repository", "ask the user to run it"))
        }
        Verb::Hook(_) => {
            Err(refused("memo hook answers hooks of agents on stdin", "search and recall find the same"))
        }
        Verb::Logs(args) if args.follow => Err(refused("--follow has no end", "leave it out")),
        _ if has_stdin => Err(refused("`-`: there is no stdin", "give the text itself, or --file")),
        _ => Ok(()),
    }
}

/// Refuses what a person at a terminal could interrupt or would have seen: devices and pipes, which may have no end, and a file
/// in the place of which something else would be written.
fn check_files(verb: &Verb) -> Result<(), CliError> {
    let is_special = |path: &&Path| fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if let Some(path) = verb.files_to_read().into_iter().find(is_special) {
        return Err(refused(&format!("{}: not a regular file", path.display()), "name a file"));
    }
    match verb {
        Verb::Export(args) if args.out.as_ref().is_some_and(|out| out.symlink_metadata().is_ok()) => {
            Err(refused("--out: the file exists", "name another one, or leave it out"))
        }
        _ => Ok(()),
    }
}

fn refused(message: &str, hint: &'static str) -> CliError {
    CliError::Usage { message: message.to_owned(), hint }
}

/// Returns help as an answer, and a wrong command line as a failure.
fn explained(error: &clap::Error) -> Answer {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return Answer { text, ..Answer::default() };
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let message = text.split("\n\nUsage:").next().unwrap_or(text).trim().to_owned();
    let hint = "the command `help` lists the verbs, `help VERB` the flags of one".to_owned();
    Answer { failure: Some(Failure { message, hint: Some(hint) }), ..Answer::default() }
}

fn of_error(error: &CliError, kept: Kept) -> Answer {
    Answer { text: kept.text, json: None, notes: kept.notes, failure: Some(failure(error)) }
}

fn failure(error: &CliError) -> Failure {
    let shown = error.shown();
    Failure { message: shown.message, hint: shown.hint }
}
