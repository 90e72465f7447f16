//! Completes command lines, with paths, languages, ids, tags, containers and models from a running daemon.
//!
//! clap_complete completes verbs, flags and their values. This module adds settings, classes and fields. Everything else comes from
//! a running daemon. Completion never starts a daemon, and offers none of these words if the daemon does not answer at once.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use memod_base::types::FileClass;
use memod_config::KEYS;
use memod_proto::{CompleteParams, CompleteResult, CompletionKind};
use memod_terminal::text::{escape_for_display, is_plain_word};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use super::usage::dir_argument;
use crate::args::{CommandLine, find_row_schema};
use crate::memories::{self, CompletionWords};
use crate::set_up::model;

/// The environment variable by which a script asks for completions and names its shell.
const COMPLETE_VAR: &str = "MEMO_COMPLETE";

/// Time limit for the daemon: the user is waiting at the prompt.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(300);

/// Most characters of a description that are shown beside a word, such as the text of a memory beside its id.
const MAX_HELP_CHARS: usize = 60;

/// Prints the script with which a shell asks this program for completions.
pub(crate) fn print_completion_script(shell: clap_complete::Shell, output: &mut Output) -> CliResult {
    let mut script = Vec::new();
    let name = shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).ok_or_else(|| CliError::Usage {
        message: format!("{name}: no completions for this shell"),
        hint: "`memo completions --help` lists the shells",
    })?;
    shell.write_registration(COMPLETE_VAR, "memo", "memo", "memo", &mut script)?;
    output.write_bytes(&script)?;
    Ok(0)
}

/// Prints completions if a shell's script asks for them; returns whether it does.
pub(crate) fn answer_completion() -> bool {
    if std::env::var_os(COMPLETE_VAR).is_none() {
        return false;
    }
    let dir = dir_argument(std::env::args_os());
    let env = CompleteEnv::with_factory(move || command_with_candidates(dir.as_ref())).var(COMPLETE_VAR);
    let context = std::env::current_dir().ok();
    // An error cannot be shown, because all output goes into the user's command line.
    env.try_complete(std::env::args_os(), context.as_deref()).unwrap_or(true)
}

/// Returns the command of clap with all verbs, whose arguments have completion candidates from `dir`.
pub(crate) fn command_with_candidates(dir: Option<&PathBuf>) -> Command {
    CommandLine::command().mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        add_candidates_to_verb(verb, &name, dir)
    })
}

/// Adds completion candidates to the arguments of a verb and of its subcommands. `name` is the full name of the verb.
fn add_candidates_to_verb(verb: Command, name: &str, dir: Option<&PathBuf>) -> Command {
    let verb = verb.mut_args(|arg| add_candidates(arg, name, dir.cloned()));
    verb.mut_subcommands(|verb| {
        let name = format!("{name} {}", verb.get_name());
        add_candidates_to_verb(verb, &name, dir)
    })
}

/// Adds completion candidates to an argument. Its value name, such as `ID` or `TAG`, decides which.
fn add_candidates(arg: Arg, verb: &str, dir: Option<PathBuf>) -> Arg {
    if let Some(words) = fixed_words(&arg, verb) {
        return arg.add(ArgValueCandidates::new(move || build_candidates(Ok(words.clone()))));
    }
    if takes_path(&arg) {
        return arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
            let context = CommandContext::find(dir.as_deref());
            let paths =
                context.and_then(|context| complete_path(&context, typed.to_str().unwrap_or_default()));
            paths.unwrap_or_default()
        }));
    }
    let words: fn(&CommandContext) -> Result<CompletionWords, CliError> = if has_value_name(&arg, "ID") {
        match verb {
            "restore" | "forget purge" => {
                |context| memories::fetch_newest_titles(context, true, ANSWER_TIMEOUT)
            }
            _ => |context| memories::fetch_newest_titles(context, false, ANSWER_TIMEOUT),
        }
    } else if has_value_name(&arg, "TAG") {
        |context| memories::fetch_name_counts("memory.tags", context, ANSWER_TIMEOUT)
    } else if has_value_name(&arg, "MODEL") {
        |context| model::fetch_model_names(context, ANSWER_TIMEOUT)
    } else if has_value_name(&arg, "LANG") {
        |context| {
            Ok(with_empty_descriptions(fetch_completions(context, CompletionKind::Lang, String::new(), "")?))
        }
    } else if arg.get_id() == "container" && has_value_name(&arg, "NAME") {
        |context| memories::fetch_name_counts("memory.containers", context, ANSWER_TIMEOUT)
    } else {
        return arg;
    };
    arg.add(ArgValueCandidates::new(move || {
        build_candidates(CommandContext::find(dir.as_deref()).and_then(|context| words(&context)))
    }))
}

fn has_value_name(arg: &Arg, value_name: &str) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == value_name))
}

/// Returns whether an argument takes a path in the worktree, and not the path of any file on the machine.
fn takes_path(arg: &Arg) -> bool {
    let mut names = arg.get_value_names().unwrap_or_default().iter();
    arg.get_value_hint() == ValueHint::Unknown
        && names.any(|name| name.starts_with("PATH") || name == "GLOB" || name == "DIR|FILE")
}

/// Returns the words that an argument takes in every repository; `None` if its words depend on the repository.
fn fixed_words(arg: &Arg, verb: &str) -> Option<CompletionWords> {
    Some(if has_value_name(arg, "CLASS") {
        with_empty_descriptions(FileClass::ALL.map(|class| class.as_str().to_owned()))
    } else if has_value_name(arg, "KEY") {
        KEYS.iter().map(|key| (key.name.to_owned(), key.kind.to_string())).collect()
    } else if has_value_name(arg, "FIELD") {
        with_empty_descriptions(find_row_schema(verb)?.field_names().map(str::to_owned))
    } else if has_value_name(arg, "VERB") {
        let memo = CommandLine::command();
        let verbs = memo.get_subcommands();
        verbs
            .map(|verb| {
                let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
                (verb.get_name().to_owned(), about)
            })
            .collect()
    } else {
        return None;
    })
}

fn with_empty_descriptions(words: impl IntoIterator<Item = String>) -> CompletionWords {
    words.into_iter().map(|word| (word, String::new())).collect()
}

/// Returns the indexed files and directories that complete a typed path, one level at a time as shells do.
fn complete_path(context: &CommandContext, typed: &str) -> Result<Vec<CompletionCandidate>, CliError> {
    let path = typed.strip_prefix('!').unwrap_or(typed); // `!` excludes what the glob matches
    let (dir, prefix) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
    let Ok(from_top) = context.caller_dir().resolve_path(if dir.is_empty() { "." } else { dir }) else {
        return Ok(Vec::new()); // outside of the worktree
    };
    let names = fetch_completions(context, CompletionKind::Path, from_top, prefix)?;
    let typed_dir = &typed[..typed.len() - prefix.len()];
    let names = names.iter().filter(|name| is_plain_word(name));
    Ok(names.map(|name| CompletionCandidate::new(format!("{typed_dir}{name}"))).collect())
}

/// Returns the words that the daemon completes a prefix to.
fn fetch_completions(
    context: &CommandContext,
    kind: CompletionKind,
    dir: String,
    prefix: &str,
) -> Result<Vec<String>, CliError> {
    let params = CompleteParams { cwd: context.cwd.clone(), what: kind, dir, prefix: prefix.to_owned() };
    let result: CompleteResult = context.connect_running_within(ANSWER_TIMEOUT)?.call("complete", &params)?;
    Ok(result.words)
}

/// Returns words with their descriptions as candidates; none if the daemon did not answer.
///
/// Omits words with shell metacharacters, because a shell may run what it completes.
fn build_candidates(words: Result<CompletionWords, CliError>) -> Vec<CompletionCandidate> {
    let words = words.unwrap_or_default().into_iter().filter(|(word, _)| is_plain_word(word));
    let candidates = words.map(|(word, help)| {
        let help: String = escape_for_display(&help).chars().take(MAX_HELP_CHARS).collect();
        CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.into()))
    });
    candidates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_fields(command: &Command, name: &str) {
        let has_fields = command.get_arguments().any(|arg| arg.get_id() == "fields");
        assert_eq!(find_row_schema(name).is_some(), has_fields, "{name}");
        for verb in command.get_subcommands() {
            check_fields(verb, format!("{name} {}", verb.get_name()).trim_start());
        }
    }

    #[test]
    fn each_verb_with_fields_knows_them() {
        check_fields(&CommandLine::command(), "");
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
