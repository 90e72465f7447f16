//! Reports a command line that clap rejected, and help.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::{Colour, Global};
use super::error::{EXIT_USAGE, Shown};
use super::output::{Output, talk};
use super::rows::Shape;
use super::text::{escape, quoted};

/// Prints help and version to stdout and usage errors to stderr; returns the exit status. `words` are those of the command
/// line, program name first.
pub(super) fn usage(error: &clap::Error, words: impl Iterator<Item = OsString>, json: bool) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    if let Some(shown) = no_verb(error, words) {
        let global = Global { json, dir: None, color: Colour::Never, quiet: false, client: "cli" };
        let _ = Output::new(&global, Shape::plain(json)).error(&shown);
        return EXIT_USAGE;
    }
    let text = error.render().to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text);
    let (first, rest) = message.split_once("\n\n").unwrap_or((message, ""));
    if json {
        let global = Global { json, dir: None, color: Colour::Never, quiet: false, client: "cli" };
        let message = first.trim_end().to_owned();
        let hint = Some("`memo --help` lists the verbs, `memo VERB --help` the flags of one".to_owned());
        let shown = Shown { code: "usage", message, hint, exit: EXIT_USAGE };
        let _ = Output::new(&global, Shape::Json).error(&shown);
    } else if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
    } else {
        talk(&format!("memo: {first}\n\n{}", rest.trim_end()));
    }
    EXIT_USAGE
}

/// Returns the error for words that begin with no verb, probably a query; `None` for any other error.
fn no_verb(error: &clap::Error, words: impl Iterator<Item = OsString>) -> Option<Shown> {
    let words = typed_words(words);
    match error.get(ContextKind::InvalidSubcommand)? {
        // A verb has subcommands of its own.
        ContextValue::String(first)
            if error.kind() == ErrorKind::InvalidSubcommand && words.first() == Some(first) => {}
        _ => return None,
    }
    let typed = quoted(&escape(&words.join(" ")));
    let search = format!("memo search {typed}");
    let is_one = words.len() == 1 && !words[0].contains(char::is_whitespace);
    let hint = match error.get(ContextKind::SuggestedSubcommand) {
        // clap sorts them; the last is the most similar.
        Some(ContextValue::Strings(similar)) if is_one && !similar.is_empty() => {
            format!("the most similar command is memo {}; to find it: {search}", similar[similar.len() - 1])
        }
        _ => search,
    };
    let message = format!("{typed} is no command");
    Some(Shown { code: "usage", message, hint: Some(hint), exit: EXIT_USAGE })
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
pub(super) fn wants_json(words: impl Iterator<Item = OsString>) -> bool {
    let mut is_format = false;
    for word in words {
        let value = word.to_str().and_then(|word| word.strip_prefix("--format=")).map(Into::into);
        let named = value.or_else(|| is_format.then(|| word.clone()));
        if word == "--json" || named.is_some_and(|format| format == "json" || format == "jsonl") {
            return true;
        }
        is_format = word == "--format";
    }
    false
}
