//! Says what to type instead of a command line that clap rejected.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::args::CommandLine;

/// Number of verbs that are named.
const MOST_VERBS: usize = 3;

/// A verb, or a part of one such as `config set`.
struct Named<'a> {
    /// As it is typed, with `memo`.
    path: String,
    command: &'a Command,
}

/// Returns what to do, in one line. `words` are the verb and the words after it.
pub(super) fn hint(error: &clap::Error, words: &[String]) -> String {
    let root = CommandLine::command();
    let typed = named(&root, words);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, &root, &typed),
        ErrorKind::InvalidValue => values(error).unwrap_or_else(|| typed.help()),
        ErrorKind::MissingRequiredArgument => {
            typed.example().or_else(|| usage_line(error)).unwrap_or_else(|| typed.help())
        }
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => parts(error, &typed),
        ErrorKind::ArgumentConflict => format!("leave one of them out; {}", typed.help()),
        _ => typed.help(),
    }
}

impl Named<'_> {
    fn help(&self) -> String {
        format!("`{} --help` lists what it takes", self.path)
    }

    /// Returns the example of the verb's help.
    fn example(&self) -> Option<String> {
        let about = self.command.get_long_about()?.to_string();
        let example = about.lines().rev().find_map(|line| line.strip_prefix("Example: "))?;
        Some(format!("for example: {example}"))
    }

    fn has_flag(&self, flag: &str) -> bool {
        let is_it = |arg: &clap::Arg| match flag.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| flag == format!("-{short}")),
        };
        self.command.get_arguments().any(is_it)
    }
}

/// Returns the command that these words name, as far as they name one.
fn named<'a>(root: &'a Command, words: &[String]) -> Named<'a> {
    let mut named = Named { path: "memo".to_owned(), command: root };
    for word in words {
        let Some(next) = named.command.find_subcommand(word) else { break };
        named = Named { path: format!("{} {}", named.path, next.get_name()), command: next };
    }
    named
}

/// Returns all verbs and their parts.
fn all<'a>(path: &str, command: &'a Command, found: &mut Vec<Named<'a>>) {
    for next in command.get_subcommands() {
        let path = format!("{path} {}", next.get_name());
        all(&path, next, found);
        found.push(Named { path, command: next });
    }
}

fn unknown(error: &clap::Error, root: &Command, typed: &Named<'_>) -> String {
    let Some(word) = text(error, ContextKind::InvalidArg) else { return typed.help() };
    if !word.starts_with('-') {
        return match root.find_subcommand(&word) {
            Some(verb) => format!("one command at a time: `{}`, then `memo {}`", typed.path, verb.get_name()),
            None => usage_line(error).unwrap_or_else(|| typed.help()),
        };
    }
    let mut commands = Vec::new();
    all("memo", root, &mut commands);
    let verbs = commands.iter().filter(|command| command.has_flag(&word) && command.path != typed.path);
    let mut verbs: Vec<&str> = verbs.map(|command| command.path.as_str()).collect();
    let n_more = verbs.len().saturating_sub(MOST_VERBS);
    verbs.truncate(MOST_VERBS);
    match (verbs.is_empty(), n_more, text(error, ContextKind::SuggestedArg)) {
        (true, _, Some(similar)) => format!("did you mean {similar}? {}", typed.help()),
        (true, ..) => typed.help(),
        (_, 0, _) => format!("{word} is a flag of {}; {}", verbs.join(", "), typed.help()),
        (_, n_more, _) => {
            format!("{word} is a flag of {} and {n_more} more; {}", verbs.join(", "), typed.help())
        }
    }
}

/// Returns the values that there are.
fn values(error: &clap::Error) -> Option<String> {
    let valid = list(error, ContextKind::ValidValue);
    let all = (!valid.is_empty()).then(|| format!("there are: {}", valid.join(", ")))?;
    Some(match text(error, ContextKind::SuggestedValue) {
        Some(similar) => format!("did you mean {similar}? {all}"),
        None => all,
    })
}

/// Returns the parts of a verb, or the verb that is most similar to the word.
fn parts(error: &clap::Error, typed: &Named<'_>) -> String {
    let similar = list(error, ContextKind::SuggestedSubcommand);
    let names: Vec<&str> = typed.command.get_subcommands().map(Command::get_name).collect();
    match similar.last() {
        Some(similar) => format!("did you mean {} {similar}? {}", typed.path, typed.help()),
        None if typed.path == "memo" => typed.help(),
        None => format!("there are: {}", names.join(", ")),
    }
}

fn usage_line(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let line = usage.lines().next()?;
    Some(format!("usage: {}", line.strip_prefix("Usage: ").unwrap_or(line)))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(list)) => list.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}
