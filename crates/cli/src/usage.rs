//! Reports a command line that clap rejected, and help.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{Colour, Global, JsonForm};
use super::context::CommandContext;
use super::error::{EXIT_USAGE, Shown};
use super::output::Output;
use super::rows::Shape;
use super::text::{escape, quoted};
use super::undo_hint::undo_hint;
use super::usage_hint::hint;

/// Prints help and version to stdout and usage errors to stderr; returns the exit status. `words` are those of the command
/// line, program name first.
pub(super) fn usage(
    error: &clap::Error,
    words: impl Iterator<Item = OsString>,
    json: Option<JsonForm>,
) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && json.is_none() {
        let _ = error.print();
        return EXIT_USAGE;
    }
    let all: Vec<OsString> = words.collect();
    let dir = dir_of(all.iter().cloned());
    let words = typed_words(all.into_iter());
    let shown = no_verb(error, &words, dir.as_deref()).unwrap_or_else(|| Shown {
        code: "usage",
        message: message(error),
        hint: Some(hint(error, &words)),
        exit: EXIT_USAGE,
    });
    let global = Global {
        json,
        dir: None,
        color: Colour::Never,
        quiet: false,
        no_pager: true,
        client: "cli",
        agent: None,
    };
    let _ = Output::new(&global, Shape::plain(json)).error(&shown);
    EXIT_USAGE
}

/// Returns what is wrong, in one line.
fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.split("\n\n").next().unwrap_or(text).lines().map(str::trim);
    // The hint has the possible values.
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("[possible values")).collect();
    plain_reason(&lines.join(" "))
}

/// Replaces what Rust says of a number that does not parse.
fn plain_reason(message: &str) -> String {
    let reasons = [
        ("invalid digit found in string", "not a whole number"),
        ("number too large to fit in target type", "too large a number"),
        ("number too small to fit in target type", "too small a number"),
        ("cannot parse integer from empty string", "not a whole number"),
    ];
    let found = reasons.into_iter().find_map(|(rust, plain)| Some((message.strip_suffix(rust)?, plain)));
    found.map_or_else(|| message.to_owned(), |(what, plain)| format!("{what}{plain}"))
}

/// Returns the error for words that begin with no verb, probably a query; `None` for any other error. The command line names
/// `dir`, or none.
fn no_verb(error: &clap::Error, words: &[String], dir: Option<&Path>) -> Option<Shown> {
    match error.get(ContextKind::InvalidSubcommand)? {
        // A verb has subcommands of its own.
        ContextValue::String(first)
            if error.kind() == ErrorKind::InvalidSubcommand && words.first() == Some(first) => {}
        _ => return None,
    }
    let (first, others) = words.split_first()?;
    let typed = quoted(&escape(&words.join(" ")));
    let search = format!("memo search {typed}");
    let is_question = first.contains(char::is_whitespace) || (!others.is_empty() && begins_a_question(first));
    let undo = || undo_hint(CommandContext::find(dir).ok().as_ref());
    let hint = match (called_otherwise(first), most_similar(error, first)) {
        _ if first == "undo" => format!("{}; to find the words: {search}", undo()),
        (Some(verb), _) => format!("memo {verb} does that; to find the words: {search}"),
        (None, Some(verb)) if !is_question => {
            let meant: Vec<&str> = std::iter::once(verb).chain(others.iter().map(String::as_str)).collect();
            format!("did you mean memo {}? to find the words: {search}", escape(&meant.join(" ")))
        }
        _ => search,
    };
    let message = format!("{typed} is no command");
    Some(Shown { code: "usage", message, hint: Some(hint), exit: EXIT_USAGE })
}

/// Returns whether a word begins a question; `why` is a verb.
fn begins_a_question(word: &str) -> bool {
    let word = word.to_lowercase();
    ["can", "do", "does", "how", "is", "are", "what", "when", "where", "which", "who", "whose"]
        .contains(&word.as_str())
}

/// Returns the verb for what other programs call so.
fn called_otherwise(word: &str) -> Option<&'static str> {
    Some(match word {
        "delete" | "remove" | "rm" => "forget",
        "note" | "remember" | "save" | "store" => "add",
        "edit" | "modify" => "update",
        "namespaces" => "containers",
        "mine" => "import --from",
        "blame" | "log" => "why",
        "diff" => "changed",
        "ask" | "find" | "grep" | "query" => "search",
        "cat" => "show",
        "analyze" | "summary" => "brief",
        "count" => "stats",
        _ => return None,
    })
}

/// Least similarity (Jaro-Winkler) of a verb that may have been meant.
const SIMILAR: f64 = 0.85;

fn most_similar<'a>(error: &'a clap::Error, word: &str) -> Option<&'a str> {
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else {
        return None;
    };
    // clap sorts them; the last is the most similar.
    similar.last().map(String::as_str).filter(|verb| strsim::jaro_winkler(verb, word) >= SIMILAR)
}

/// Returns what -C names among the words of a command line.
pub(super) fn dir_of(words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut words = words.skip_while(|word| word != "-C").skip(1);
    words.next().map(PathBuf::from)
}

/// Returns the verb and the words after it, up to a flag.
fn typed_words(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut words = words.skip(1);
    let mut typed = Vec::new();
    while let Some(word) = words.next() {
        if !word.as_encoded_bytes().starts_with(b"-") {
            typed.push(word.to_string_lossy().into_owned());
        } else if !typed.is_empty() {
            break;
        } else if word == "-C" || word == "--color" {
            words.next(); // its value
        }
    }
    typed
}

/// Returns whether the verb of a command line that clap rejected is `hook`.
pub(super) fn is_agent_hook(words: impl Iterator<Item = OsString>) -> bool {
    typed_words(words).first().is_some_and(|word| word == "hook")
}

/// Returns whether a command line that clap rejected asks for JSON.
pub(super) fn wants_json(words: impl Iterator<Item = OsString>) -> Option<JsonForm> {
    let mut is_format = false;
    for word in words {
        let value = word.to_str().and_then(|word| word.strip_prefix("--format=")).map(Into::into);
        let named = value.or_else(|| is_format.then(|| word.clone()));
        let is_json = word == "--json" || word.to_string_lossy().starts_with("--json=");
        if is_json || named.is_some_and(|format| format == "json" || format == "jsonl") {
            return Some(JsonForm::Lean);
        }
        is_format = word == "--format";
    }
    None
}
