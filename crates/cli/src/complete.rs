//! Completes command lines, with paths, languages, ids, tags, containers and models from a running daemon.
//!
//! clap_complete knows verbs, flags and their values; settings, classes and fields are known here; the others come from the
//! running daemon. Completion never starts a daemon, and offers nothing if the daemon does not answer at once.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use memod_base::types::FileClass;
use memod_proto::{CompleteParams, CompleteResult, CompletionKind};

use super::args::CommandLine;
use super::context::CommandContext;
use super::error::{CliError, CliResult};
use super::memories::{self, Words};
use super::model;
use super::output::Output;
use super::rows;
use super::text::{escape, is_plain_word};
use super::usage::dir_of;
use memod_config::KEYS;

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

/// Returns all verbs; their arguments know what can be typed in `dir`.
pub(super) fn command(dir: Option<&PathBuf>) -> Command {
    CommandLine::command().mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        let verb = verb.mut_args(|arg| with_candidates(arg, &name, dir.cloned()));
        verb.mut_subcommands(|verb| verb.mut_args(|arg| with_candidates(arg, &name, dir.cloned())))
    })
}

/// An argument says by the name of its value what it takes.
fn with_candidates(arg: Arg, verb: &str, dir: Option<PathBuf>) -> Arg {
    if let Some(words) = fixed(&arg, verb) {
        return arg.add(ArgValueCandidates::new(move || candidates(Ok(words.clone()))));
    }
    if takes_path(&arg) {
        let names = move |typed: &OsStr| {
            let context = CommandContext::find(dir.as_deref());
            let paths = context.and_then(|context| paths(&context, typed.to_str().unwrap_or_default()));
            paths.unwrap_or_default()
        };
        return arg.add(ArgValueCompleter::new(names));
    }
    let words: fn(&CommandContext) -> Result<Words, CliError> = if takes(&arg, "ID") {
        match verb {
            "restore" | "purge" => |context| memories::some(context, true, PATIENCE),
            _ => |context| memories::some(context, false, PATIENCE),
        }
    } else if takes(&arg, "TAG") {
        |context| memories::names("memory.tags", context, PATIENCE)
    } else if takes(&arg, "MODEL") {
        |context| model::names(context, PATIENCE)
    } else if takes(&arg, "LANG") {
        |context| Ok(without_help(complete(context, CompletionKind::Lang, String::new(), "")?))
    } else if arg.get_id() == "container" && takes(&arg, "NAME") {
        |context| memories::names("memory.containers", context, PATIENCE)
    } else {
        return arg;
    };
    let words = move || words(&CommandContext::find(dir.as_deref())?);
    arg.add(ArgValueCandidates::new(move || candidates(words())))
}

fn takes(arg: &Arg, what: &str) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == what))
}

/// Returns whether an argument takes a path of the worktree, not one of any file.
fn takes_path(arg: &Arg) -> bool {
    let is_path = |name: &str| name.starts_with("PATH") || name == "GLOB" || name == "DIR|FILE";
    let names = arg.get_value_names().unwrap_or_default();
    arg.get_value_hint() == ValueHint::Unknown && names.iter().any(|name| is_path(name))
}

/// Returns the words that an argument takes everywhere, if they are known.
fn fixed(arg: &Arg, verb: &str) -> Option<Words> {
    Some(if takes(arg, "CLASS") {
        without_help(FileClass::ALL.map(|class| class.as_str().to_owned()))
    } else if takes(arg, "KEY") {
        KEYS.iter().map(|key| (key.name.to_owned(), key.kind.to_string())).collect()
    } else if takes(arg, "FIELD") {
        without_help(rows::table_of(verb)?.fields().map(str::to_owned))
    } else if takes(arg, "VERB") {
        let about = |verb: &Command| verb.get_about().map(ToString::to_string).unwrap_or_default();
        let verbs = CommandLine::command();
        verbs.get_subcommands().map(|verb| (verb.get_name().to_owned(), about(verb))).collect()
    } else {
        return None;
    })
}

fn without_help(words: impl IntoIterator<Item = String>) -> Words {
    words.into_iter().map(|word| (word, String::new())).collect()
}

/// Returns the files and directories of the index that a typed path may become, one level at a time as shells do.
fn paths(context: &CommandContext, typed: &str) -> Result<Vec<CompletionCandidate>, CliError> {
    let path = typed.strip_prefix('!').unwrap_or(typed); // a glob of what is not wanted
    let (dir, prefix) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let Ok(from_top) = context.dir().path(if dir.is_empty() { "." } else { dir }) else {
        return Ok(Vec::new()); // outside of the worktree
    };
    let names = complete(context, CompletionKind::Path, from_top, prefix)?;
    let typed_dir = &typed[..typed.len() - prefix.len()];
    let names = names.iter().filter(|name| is_plain_word(name));
    Ok(names.map(|name| CompletionCandidate::new(format!("{typed_dir}{name}"))).collect())
}

/// Returns what the daemon completes a prefix to.
fn complete(
    context: &CommandContext,
    what: CompletionKind,
    dir: String,
    prefix: &str,
) -> Result<Vec<String>, CliError> {
    let params = CompleteParams { cwd: context.cwd.clone(), what, dir, prefix: prefix.to_owned() };
    let result: CompleteResult = context.connect_running_within(PATIENCE)?.call("complete", &params)?;
    Ok(result.words)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_with_fields_knows_them() {
        let memo = CommandLine::command();
        for verb in memo.get_subcommands() {
            let has_fields = verb.get_arguments().any(|arg| arg.get_id() == "fields");
            assert_eq!(rows::table_of(verb.get_name()).is_some(), has_fields, "{}", verb.get_name());
        }
    }

    #[test]
    fn paths_of_the_worktree_are_no_files() {
        let memo = CommandLine::command();
        let check = |verb: &str, id: &str, expected: bool| {
            let verb = memo.find_subcommand(verb).unwrap();
            let arg = verb.get_arguments().find(|arg| arg.get_id() == id).unwrap();
            assert_eq!(takes_path(arg), expected, "{} {id}", verb.get_name());
        };
        for (verb, id) in [
            ("search", "path"),
            ("search", "exclude"),
            ("why", "target"),
            ("show", "target"),
            ("outline", "target"),
            ("refs", "target"),
        ] {
            check(verb, id, true);
        }
        for (verb, id) in [("map", "paths"), ("map", "focus"), ("add", "about"), ("explain", "of")] {
            check(verb, id, true);
        }
        for (verb, id) in [("import", "paths"), ("backup", "path"), ("add", "file"), ("add", "text")] {
            check(verb, id, false);
        }
    }
}
