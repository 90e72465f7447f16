//! Builds the hint on a command line that clap rejected.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::words_without_verb::UNSUGGESTED_VERBS;
use crate::args::{CommandLine, find_examples};

/// Most verbs that a hint names.
const MOST_VERBS: usize = 3;

/// A verb, or a subcommand of one such as `config set`.
struct NamedCommand<'a> {
    /// The words to type, beginning with `memo`.
    path: String,
    command: &'a Command,
}

/// Returns the hint on an error of clap, in one line. `words` are the verb and the words after it.
pub(crate) fn find_usage_hint(error: &clap::Error, words: &[String]) -> String {
    let root = CommandLine::command();
    let typed = find_command(&root, words);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_argument_hint(error, &root, &typed),
        ErrorKind::InvalidValue => valid_values_hint(error).unwrap_or_else(|| typed.help_hint()),
        ErrorKind::MissingRequiredArgument => {
            typed.example_hint().or_else(|| usage_line(error)).unwrap_or_else(|| typed.help_hint())
        }
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => subcommand_hint(error, &typed),
        ErrorKind::ArgumentConflict => format!("leave one of them out; {}", typed.help_hint()),
        _ => typed.help_hint(),
    }
}

/// Returns the words that name the verb of a command line and its subcommand, beginning with `memo`. `words` are the verb and the
/// words after it.
pub(super) fn find_command_path(words: &[String]) -> String {
    find_command(&CommandLine::command(), words).path
}

impl NamedCommand<'_> {
    fn help_hint(&self) -> String {
        format!("`{} --help` lists its arguments", self.path)
    }

    /// Returns a hint with the example from the verb's help; `None` if the help has no example.
    fn example_hint(&self) -> Option<String> {
        let [example, _] = find_examples(self.path.strip_prefix("memo ")?)?;
        Some(format!("for example: {example}"))
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.command.get_arguments().any(|arg| match flag.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| flag == format!("-{short}")),
        })
    }
}

/// Returns the deepest subcommand that the words name.
fn find_command<'a>(root: &'a Command, words: &[String]) -> NamedCommand<'a> {
    let mut named = NamedCommand { path: "memo".to_owned(), command: root };
    for word in words {
        let Some(next) = named.command.find_subcommand(word) else { break };
        named = NamedCommand { path: format!("{} {}", named.path, next.get_name()), command: next };
    }
    named
}

/// Collects all verbs and their subcommands.
fn collect_commands<'a>(path: &str, command: &'a Command, found: &mut Vec<NamedCommand<'a>>) {
    for next in command.get_subcommands() {
        let path = format!("{path} {}", next.get_name());
        collect_commands(&path, next, found);
        found.push(NamedCommand { path, command: next });
    }
}

fn unknown_argument_hint(error: &clap::Error, root: &Command, typed: &NamedCommand<'_>) -> String {
    let Some(word) = context_text(error, ContextKind::InvalidArg) else { return typed.help_hint() };
    if !word.starts_with('-') {
        return match root.find_subcommand(&word) {
            Some(verb) => format!("one command at a time: `{}`, then `memo {}`", typed.path, verb.get_name()),
            None => usage_line(error).unwrap_or_else(|| typed.help_hint()),
        };
    }
    let mut commands = Vec::new();
    collect_commands("memo", root, &mut commands);
    let verbs = commands.iter().filter(|command| command.has_flag(&word) && command.path != typed.path);
    let mut verbs: Vec<&str> = verbs.map(|command| command.path.as_str()).collect();
    let n_more = verbs.len().saturating_sub(MOST_VERBS);
    verbs.truncate(MOST_VERBS);
    let similar = context_text(error, ContextKind::SuggestedArg);
    let is_mistyped = similar.as_ref().is_some_and(|flag| strsim::damerau_levenshtein(flag, &word) <= 2);
    if matches!(typed.path.as_str(), "memo search" | "memo add") && verbs.is_empty() && !is_mistyped {
        return format!(
            "to use it as a word, write -- first: `{} -- … {word} …`; {}",
            typed.path,
            typed.help_hint()
        );
    }
    match (verbs.is_empty(), n_more, similar) {
        (true, _, Some(similar)) => format!("did you mean {similar}? {}", typed.help_hint()),
        (true, ..) => typed.help_hint(),
        (_, 0, _) => format!("{word} is a flag of {}; {}", verbs.join(", "), typed.help_hint()),
        (_, n_more, _) => {
            format!("{word} is a flag of {} and {n_more} more; {}", verbs.join(", "), typed.help_hint())
        }
    }
}

/// Returns a hint with the valid values of an argument; `None` if they are not known.
fn valid_values_hint(error: &clap::Error) -> Option<String> {
    let valid = context_list(error, ContextKind::ValidValue);
    let all = (!valid.is_empty()).then(|| format!("there are: {}", valid.join(", ")))?;
    Some(match context_text(error, ContextKind::SuggestedValue) {
        Some(similar) => format!("did you mean {similar}? {all}"),
        None => all,
    })
}

/// Returns a hint with the subcommands of a verb, or with the most similar one.
fn subcommand_hint(error: &clap::Error, typed: &NamedCommand<'_>) -> String {
    let similar = context_list(error, ContextKind::SuggestedSubcommand);
    let names: Vec<&str> = typed.command.get_subcommands().map(Command::get_name).collect();
    match similar.last().filter(|verb| !UNSUGGESTED_VERBS.contains(&verb.as_str())) {
        Some(similar) => format!("did you mean {} {similar}? {}", typed.path, typed.help_hint()),
        None if typed.path == "memo" => typed.help_hint(),
        None => format!("there are: {}", names.join(", ")),
    }
}

fn usage_line(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let line = usage.lines().next()?;
    Some(format!("usage: {}", line.strip_prefix("Usage: ").unwrap_or(line)))
}

fn context_text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn context_list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(list)) => list.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}
