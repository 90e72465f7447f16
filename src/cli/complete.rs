//! Completes command lines, with ids, tags, containers and models from a running daemon.
//!
//! clap_complete knows verbs, flags and their values; the others come from the running daemon. Completion
//! never starts a daemon, and offers nothing if the daemon does not answer at once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use super::args::CommandLine;
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::memories::{self, Words};
use super::model;
use super::output::Output;
use super::text::{escape, is_plain_word};

/// The environment variable by which a script asks for completions and names its shell.
const VAR: &str = "MEMO_COMPLETE";

/// Time limit for the daemon: the user is waiting at the prompt.
const PATIENCE: Duration = Duration::from_millis(300);

/// Characters of a memory shown beside its id.
const MOST_HELP: usize = 60;

/// Prints the script that asks this program for completions.
pub(super) fn script(shell: clap_complete::Shell, output: &mut Output) -> CliResult {
    let mut script = Vec::new();
    let name = shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).ok_or_else(|| CliError::Usage {
        message: format!("{name}: no completions for this shell"),
        hint: "`memo completions --help` lists the shells",
    })?;
    shell.write_registration(VAR, "memo", "memo", "memo", &mut script)?;
    output.raw(&script)?;
    Ok(0)
}

/// Answers a script that asks for completions; returns whether one did.
pub(super) fn answered() -> bool {
    if std::env::var_os(VAR).is_none() {
        return false;
    }
    let dir = dir_of(std::env::args_os());
    let env = CompleteEnv::with_factory(move || command(dir.as_ref())).var(VAR);
    let context = std::env::current_dir().ok();
    // There is no place for an error: all output goes into the user's command line.
    env.try_complete(std::env::args_os(), context.as_deref()).unwrap_or(true)
}

/// Returns what -C names among the words of a command line.
fn dir_of(words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut words = words.skip_while(|word| word != "-C").skip(1);
    words.next().map(PathBuf::from)
}

/// Returns all verbs; those that take ids, tags, containers or models know which there are in `dir`.
pub(super) fn command(dir: Option<&PathBuf>) -> Command {
    CommandLine::command().mut_subcommands(|verb| {
        let is_archived = matches!(verb.get_name(), "restore" | "purge");
        let verb = verb.mut_args(|arg| with_candidates(arg, dir.cloned(), is_archived));
        verb.mut_subcommands(|verb| verb.mut_args(|arg| with_candidates(arg, dir.cloned(), false)))
    })
}

/// An argument says by the name of its value what it takes.
fn with_candidates(arg: Arg, dir: Option<PathBuf>, is_archived: bool) -> Arg {
    let takes = |word: &str| arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == word));
    let ask: fn(&CommandContext, bool) -> Result<Words, CliError> = if takes("ID") {
        |context, is_archived| memories::some(context, is_archived, PATIENCE)
    } else if takes("TAG") {
        |context, _| memories::names("memory.tags", context, PATIENCE)
    } else if takes("MODEL") {
        |context, _| model::names(context, PATIENCE)
    } else if arg.get_id() == "container" && takes("NAME") {
        |context, _| memories::names("memory.containers", context, PATIENCE)
    } else {
        return arg;
    };
    let ask = move || ask(&CommandContext::find(dir.as_deref())?, is_archived);
    arg.add(ArgValueCandidates::new(move || candidates(ask())))
}

/// Returns words with their descriptions; nothing if the daemon does not answer.
///
/// A shell may run what it completes: only words without a meaning to any shell are offered.
fn candidates(words: Result<Words, CliError>) -> Vec<CompletionCandidate> {
    let words = words.unwrap_or_default().into_iter().filter(|(word, _)| is_plain_word(word));
    let shown = words.map(|(word, help)| {
        let help: String = escape(&help).chars().take(MOST_HELP).collect();
        CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.into()))
    });
    shown.collect()
}
