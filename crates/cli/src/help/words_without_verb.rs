//! Answers a command line that begins with no verb.
//!
//! Shows the place that it names, searches for its words, or says which verb was meant.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use memod_base::types::parse_target;
use memod_terminal::text::{escape_for_display, quote_text};
use memod_terminal::{CommandContext, EXIT_USAGE, ErrorReport, write_message};

use super::undo_hint::find_undo_hint;
use super::usage::{dir_argument, words_from_verb};
use crate::args::{CommandLine, find_copied_place, find_verb, is_printed_line, parse_command_line};

/// Words that are no verb of `memo`, each with the commands that do it.
const EXPLAINED_WORDS: &[(&str, &str)] = &[
    ("start", "the daemon starts with the first command; memo init indexes the repository now"),
    ("install", "memo init sets up this repository, memo setup the agents, memo hooks install the git hooks"),
    ("graph", "memo map shows the main definitions, memo callers NAME and memo callees NAME who calls whom"),
    ("claude", "memo setup claude-code sets it up"),
    ("mine", "memo import --from SYSTEM FILE does that"),
    ("save", "memo add TEXT keeps a memory"),
    ("store", "memo add TEXT keeps a memory"),
    ("bench", "memod bench measures answers"),
];

/// Verbs that delete, or that undo a set-up. They are never suggested for another word.
pub(super) const UNSUGGESTED_VERBS: [&str; 6] = ["uninstall", "forget", "purge", "reset", "leave", "reindex"];

/// Longest word in which only one letter may be wrong.
const MAX_SHORT_CHARS: usize = 7;

/// Inserts the verb that is meant into a command line that begins with none, and says so on stderr: `show` or `outline` for a place
/// that exists, otherwise a search for the words. `None` if something else was wrong, or if another verb was probably meant.
pub(crate) fn add_missing_verb(error: &clap::Error, mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    let at = find_verb(&words)?;
    if error.kind() == ErrorKind::UnknownArgument {
        return add_search_before_flags(words, at);
    }
    let typed = words_from_verb(words.iter().cloned());
    let (first, others) = split_unknown_verb(error, &typed)?;
    let dir = dir_argument(words.iter().cloned());
    let place_verb = if others.is_empty() { find_verb_for_place(first, dir.as_deref()) } else { None };
    let is_explained = first == "undo" || explain_word(first).is_some();
    if place_verb.is_none() && (is_explained || meant_verb(error, first, others).is_some()) {
        return None;
    }
    let verb = place_verb.unwrap_or("search");
    words.insert(at, verb.into());
    let parsed = parse_command_line(words.clone());
    if parsed.as_ref().is_ok_and(|command| !command.global.quiet) {
        let typed = quote_text(&escape_for_display(&typed.join(" ")));
        write_message(&format!("memo: no verb, so this is `memo {verb} {typed}`"));
    }
    // A wrong flag of the verb is an error of its own; help was asked for without a verb.
    parsed.map_or_else(|error| error.use_stderr(), |_| true).then_some(words)
}

/// Inserts `search` before the flags of a command line that has no verb at all, such as `-n 5 WORDS`, and says so on stderr. `None` if it
/// has a verb, or a flag that `search` does not know. `at` is the position of the first word that may be a verb.
fn add_search_before_flags(mut words: Vec<OsString>, at: usize) -> Option<Vec<OsString>> {
    let memo = CommandLine::command();
    let begins_with_flag = words.get(1).is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    if !begins_with_flag || words[at..].iter().any(|word| memo.find_subcommand(word).is_some()) {
        return None;
    }
    words.insert(1, "search".into());
    let command = parse_command_line(words.clone()).ok()?;
    if !command.global.quiet {
        write_message("memo: no verb, so this is `memo search`");
    }
    Some(words)
}

/// Returns the verb that shows a file or a directory; `None` if the word names none that exists. A line that a program has printed
/// must name a line of a file, because a question may name a file too. `dir` is the argument of `-C`.
fn find_verb_for_place(word: &str, dir: Option<&Path>) -> Option<&'static str> {
    let context = CommandContext::find(dir).ok();
    let root_and_cwd = context.as_ref().map(|at| (at.layout.root.as_path(), Path::new(&at.cwd)));
    let is_text = word.trim().contains(char::is_whitespace);
    if is_text && !root_and_cwd.is_some_and(|(root, cwd)| is_printed_line(word, cwd, root)) {
        return None;
    }
    let cleaned = root_and_cwd.and_then(|(root, cwd)| find_copied_place(word, cwd, root));
    let (dir, word) = (dir.unwrap_or(Path::new("")), cleaned.as_deref().unwrap_or(word));
    // A place within a file is shown, a whole file or directory may be long.
    let (path, _) = parse_target(word).into_iter().find(|(path, _)| dir.join(path).exists())?;
    Some(if path == word || dir.join(path).is_dir() { "outline" } else { "show" })
}

/// Returns the error for words that begin with no verb and for which another verb was meant; `None` for any other error. `dir` is
/// the argument of `-C`.
pub(super) fn no_verb_error(
    error: &clap::Error,
    words: &[String],
    dir: Option<&Path>,
) -> Option<ErrorReport> {
    let (first, others) = split_unknown_verb(error, words)?;
    let typed = quote_text(&escape_for_display(&words.join(" ")));
    let search = format!("memo search {typed}");
    let hint = match (explain_word(first), meant_verb(error, first, others)) {
        _ if first == "undo" => {
            let undo = find_undo_hint(CommandContext::find(dir).ok().as_ref());
            format!("{undo}; to find the words: {search}")
        }
        (Some(explained), _) => format!("{explained}; to find the words: {search}"),
        (None, Some(verb)) => {
            let meant: Vec<&str> = std::iter::once(verb).chain(others.iter().map(String::as_str)).collect();
            format!("did you mean memo {}? to find the words: {search}", escape_for_display(&meant.join(" ")))
        }
        (None, None) => search,
    };
    let message = format!("{typed} is no verb");
    Some(ErrorReport { code: "usage", message, hint: Some(hint), exit_status: EXIT_USAGE })
}

/// Returns the first of `words` and the others, if clap knows no verb of that name.
fn split_unknown_verb<'a>(error: &clap::Error, words: &'a [String]) -> Option<(&'a str, &'a [String])> {
    let (first, others) = words.split_first()?;
    let is_unknown = error.kind() == ErrorKind::InvalidSubcommand
        && matches!(error.get(ContextKind::InvalidSubcommand)?, ContextValue::String(word) if word == first);
    is_unknown.then_some((first.as_str(), others))
}

fn explain_word(word: &str) -> Option<&'static str> {
    EXPLAINED_WORDS.iter().find(|(explained, _)| *explained == word).map(|(_, text)| *text)
}

/// Returns the verb that was probably meant by a mistyped one; `None` if the words are rather a question.
fn meant_verb<'a>(error: &'a clap::Error, first: &str, others: &[String]) -> Option<&'a str> {
    if first.contains(char::is_whitespace) || (!others.is_empty() && begins_a_question(first)) {
        return None;
    }
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else {
        return None;
    };
    // clap sorts the suggestions; the last is the most similar.
    let verb = similar.last()?;
    let most_wrong = if first.chars().count() <= MAX_SHORT_CHARS { 1 } else { 2 };
    let is_near = strsim::damerau_levenshtein(verb, first) <= most_wrong;
    (is_near && !UNSUGGESTED_VERBS.contains(&verb.as_str())).then_some(verb.as_str())
}

/// Returns whether a word begins a question; `why` is a verb.
fn begins_a_question(word: &str) -> bool {
    let word = word.to_lowercase();
    ["can", "do", "does", "how", "is", "are", "what", "when", "where", "which", "who", "whose"]
        .contains(&word.as_str())
}
