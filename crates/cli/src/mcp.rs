//! Runs `memo mcp`: lends the verbs to the server for agents.

mod permission;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memod_client::ClientError;
use memod_proto::{IndexStep, Sync, SyncParams, SyncResult};
use serde_json::Value;

use super::args::{self, CommandLine, Global, McpArgs, ProfileArg, Verb};
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_FAILED};
use super::output::{Kept, talk};
use memod_mcp::{Answer, Failure, IndexingProgress, Profile, VerbRunner};

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
    match memod_mcp::serve_client(profile, Arc::new(InProcess { dir: global.dir.clone(), keep })) {
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

impl VerbRunner for InProcess {
    fn run_verb(&self, words: Vec<String>, agent: Option<String>) -> Answer {
        let has_stdin = words.iter().any(|word| word == "-");
        let mut typed = match args::parse(std::iter::once("memo".to_owned()).chain(spelled_out(words))) {
            Ok(typed) => typed,
            Err(error) => return explained(&error),
        };
        let verb = typed.name.clone();
        let of_error = |error: &CliError, kept| of_error(error, &verb, kept);
        if let Err(error) = check(&typed, has_stdin) {
            return of_error(&error, Kept::default());
        }
        (typed.global.client, typed.global.agent) = ("mcp", agent);
        if let Some(dir) = &self.dir {
            typed.verb.start_files_at(dir);
            typed.global.dir = Some(dir.clone());
        }
        if let Err(error) = permission::check_files(&typed.verb, self.dir.as_deref()) {
            return of_error(&error, Kept::default());
        }
        let is_import = matches!(typed.verb, Verb::Import(_));
        match (self.keep)(typed) {
            (Ok(_), kept) if is_import && kept.json.as_ref().is_some_and(took_nothing) => {
                let message = "every entry was refused".to_owned();
                let hint = Some("the reasons are above".to_owned());
                let failure = Some(Failure { message, hint, is_quoting: false });
                Answer { text: kept.text, json: None, notes: kept.notes, failure }
            }
            (Ok(_), Kept { text, json, notes }) => Answer { text, json, notes, failure: None },
            (Err(error), kept) => of_error(&error, kept),
        }
    }

    fn worktree_root(&self) -> Result<PathBuf, Failure> {
        let context = CommandContext::find(self.dir.as_deref());
        context.map(|context| context.layout.root).map_err(|error| failure(&error, None))
    }

    fn indexing_progress(&self) -> Option<IndexingProgress> {
        let context = CommandContext::find(self.dir.as_deref()).ok()?;
        let mut client = context.connect_running_within(PATIENCE).ok()?;
        let params = SyncParams { cwd: context.cwd, sync: Sync::Fs, wait_ms: Some(0) };
        let now: SyncResult = client.call("sync", &params).ok()?;
        let reading = now.progress.filter(|progress| progress.step == IndexStep::Reading)?;
        Some(IndexingProgress { done: reading.done, total: reading.total? }).filter(|_| !now.fresh)
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

/// Refuses what cannot work without a terminal, or is for people.
fn check(typed: &CommandLine, has_stdin: bool) -> Result<(), CliError> {
    if typed.global.dir.is_some() {
        let message = "-C: the server answers in the directory where it was started";
        return Err(refused(message, "start another one there"));
    }
    permission::check_verb(&typed.verb)?;
    if has_stdin {
        return Err(refused("`-`: there is no stdin", "give the text itself, or --file"));
    }
    Ok(())
}

fn refused(message: &str, hint: &'static str) -> CliError {
    CliError::Usage { message: message.to_owned(), hint }
}

/// Returns whether an import refused entries, and did nothing else.
fn took_nothing(import: &Value) -> bool {
    let is_zero = |key: &str| import[key] == 0;
    import["refused"].as_array().is_some_and(|refused| !refused.is_empty())
        && ["added", "updated", "same", "older", "archived", "links"].into_iter().all(is_zero)
}

/// Returns help as an answer, and a wrong command line as a failure.
fn explained(error: &clap::Error) -> Answer {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return Answer { text, ..Answer::default() };
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // What follows is for a shell.
    let before = |text, end| str::split(text, end).next().unwrap_or(text);
    let message = before(before(text, "\n\nUsage:"), "\n\nFor more information").trim().to_owned();
    let hint = Some("the command `help` lists the verbs, `help VERB` the flags of one".to_owned());
    Answer { failure: Some(Failure { message, hint, is_quoting: false }), ..Answer::default() }
}

fn of_error(error: &CliError, verb: &str, kept: Kept) -> Answer {
    Answer { text: kept.text, json: None, notes: kept.notes, failure: Some(failure(error, Some(verb))) }
}

fn failure(error: &CliError, verb: Option<&str>) -> Failure {
    let shown = error.shown_of(verb);
    // The daemon quotes memories and definitions; a message of this process names what the caller typed.
    let is_quoting = matches!(error, CliError::Client(ClientError::Rpc(_)));
    Failure { message: shown.message, hint: shown.hint, is_quoting }
}
