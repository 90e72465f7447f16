//! Runs `memo mcp`: an MCP server for agents, which runs verbs in its own process.

mod permission;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memod_client::ClientError;
use memod_mcp::{IndexingProgress, ToolProfile, VerbAnswer, VerbFailure, VerbRunner};
use memod_proto::{FreshnessLevel, IndexStep, SyncParams, SyncResult};
use memod_terminal::{
    CapturedOutput, CliError, CliResult, CommandContext, EXIT_FAILED, GlobalArgs, write_message,
};
use serde_json::Value;

use super::args::{self, CommandLine, McpArgs, MemoVerb, ProfileArg};

/// Longest wait for the daemon's answer about the progress of indexing.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(2);

/// A function that runs a command, and returns its output instead of writing it.
type RunCaptured = fn(CommandLine) -> (CliResult, CapturedOutput);

/// Serves one agent on stdin and stdout until stdin ends; returns the exit status.
pub(super) fn serve_agent(typed: &McpArgs, global: &GlobalArgs, run_captured: RunCaptured) -> u8 {
    let profile = match typed.profile {
        ProfileArg::Default => ToolProfile::Default,
        ProfileArg::Full => ToolProfile::Full,
    };
    match memod_mcp::serve_client(
        profile,
        Arc::new(InProcessRunner { dir: global.dir.clone(), run_captured }),
    ) {
        Ok(()) => 0,
        Err(error) => {
            write_message(&format!("memo: {error}"));
            EXIT_FAILED
        }
    }
}

/// Returns the error for `memo mcp` where it would run inside another command, such as `memo shell`.
pub(super) fn nested_server_error() -> CliError {
    refused_error("memo mcp serves agents on stdin and stdout", "run it as a separate program")
}

/// Runs verbs on the threads of this process.
struct InProcessRunner {
    /// The directory of `-C`.
    dir: Option<PathBuf>,
    run_captured: RunCaptured,
}

impl VerbRunner for InProcessRunner {
    fn run_verb(&self, words: Vec<String>, agent: Option<String>) -> VerbAnswer {
        let has_stdin = words.iter().any(|word| word == "-");
        let mut typed = match args::parse_command_line(std::iter::once("memo".to_owned()).chain(words)) {
            Ok(typed) => typed,
            Err(error) => return answer_usage_error(&error),
        };
        let verb = typed.verb_name.clone();
        if let Err(error) = check_command_allowed(&typed, has_stdin) {
            return failed_answer(&error, &verb, CapturedOutput::default());
        }
        (typed.global.client, typed.global.agent) = ("mcp", agent);
        if let Some(dir) = &self.dir {
            typed.verb.resolve_files(dir);
            typed.global.dir = Some(dir.clone());
        }
        if let Err(error) = permission::check_files_allowed(&typed.verb, self.dir.as_deref()) {
            return failed_answer(&error, &verb, CapturedOutput::default());
        }
        let is_import = matches!(typed.verb, MemoVerb::Import(_));
        match (self.run_captured)(typed) {
            (Ok(_), captured) if is_import && captured.json.as_ref().is_some_and(has_refused_every_entry) => {
                let message = "every entry was refused".to_owned();
                let hint = Some("the reasons are above".to_owned());
                let failure = Some(VerbFailure { message, hint, may_quote_data: false });
                VerbAnswer { text: captured.text, json: None, notes: captured.notes, failure }
            }
            (Ok(_), CapturedOutput { text, json, notes }) => VerbAnswer { text, json, notes, failure: None },
            (Err(error), captured) => failed_answer(&error, &verb, captured),
        }
    }

    fn worktree_root(&self) -> Result<PathBuf, VerbFailure> {
        let context = CommandContext::find(self.dir.as_deref());
        context.map(|context| context.layout.root).map_err(|error| build_failure(&error, None))
    }

    fn indexing_progress(&self) -> Option<IndexingProgress> {
        let context = CommandContext::find(self.dir.as_deref()).ok()?;
        let mut client = context.connect_running_within(PROGRESS_TIMEOUT).ok()?;
        let params = SyncParams { cwd: context.cwd, sync: FreshnessLevel::Fs, wait_ms: Some(0) };
        let now: SyncResult = client.call("sync", &params).ok()?;
        let reading = now.progress.filter(|progress| progress.step == IndexStep::Reading)?;
        Some(IndexingProgress { done: reading.done, total: reading.total? }).filter(|_| !now.fresh)
    }
}

/// Fails for a command that an agent may not run, or that needs a terminal or stdin.
fn check_command_allowed(typed: &CommandLine, has_stdin: bool) -> Result<(), CliError> {
    if typed.global.dir.is_some() {
        let message = "-C: the server answers in the directory where it was started";
        return Err(refused_error(message, "start another server there"));
    }
    permission::check_verb_allowed(&typed.verb)?;
    if has_stdin {
        return Err(refused_error("`-`: there is no stdin", "give the text itself, or --file"));
    }
    Ok(())
}

fn refused_error(message: &str, hint: &'static str) -> CliError {
    CliError::Usage { message: message.to_owned(), hint }
}

/// Returns whether an import refused every entry, from its result as JSON.
fn has_refused_every_entry(import: &Value) -> bool {
    let counts = ["added", "updated", "same", "older", "archived", "links"].map(|key| &import[key]);
    import["refused"].as_array().is_some_and(|refused| !refused.is_empty())
        && counts.into_iter().all(|count| *count == 0)
}

/// Returns the answer to a command line that clap did not accept: help as text, or what is wrong as a failure.
fn answer_usage_error(error: &clap::Error) -> VerbAnswer {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return VerbAnswer { text, ..VerbAnswer::default() };
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // Leave out the usage and the hint at the end, which are for people at a shell.
    let text = text.split("\n\nUsage:").next().unwrap_or(text);
    let message = text.split("\n\nFor more information").next().unwrap_or(text).trim().to_owned();
    let hint = Some("the command `help` lists the verbs, `help VERB` the flags of one".to_owned());
    VerbAnswer {
        failure: Some(VerbFailure { message, hint, may_quote_data: false }),
        ..VerbAnswer::default()
    }
}

fn failed_answer(error: &CliError, verb: &str, captured: CapturedOutput) -> VerbAnswer {
    VerbAnswer {
        text: captured.text,
        json: None,
        notes: captured.notes,
        failure: Some(build_failure(error, Some(verb))),
    }
}

fn build_failure(error: &CliError, verb: Option<&str>) -> VerbFailure {
    let report = error.to_report_for(verb);
    // An error of the daemon may quote memories and definitions. An error of this process quotes only words that the caller typed.
    let is_quoting = matches!(error, CliError::Client(ClientError::Rpc(_)));
    VerbFailure { message: report.message, hint: report.hint, may_quote_data: is_quoting }
}
