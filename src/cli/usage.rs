//! Reports a command line that clap rejected, and help.

use std::ffi::OsString;

use super::args::{Colour, Global};
use super::error::{EXIT_USAGE, Shown};
use super::output::{Output, talk};
use super::rows::Shape;

/// Prints help and version to stdout and usage errors to stderr; returns the exit status.
pub(super) fn usage(error: &clap::Error, json: bool) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
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

/// Returns whether the verb of a command line that clap rejected is `hook`.
pub(super) fn is_agent_hook(words: impl Iterator<Item = OsString>) -> bool {
    let mut words = words.skip(1);
    while let Some(word) = words.next() {
        if word == "-C" || word == "--color" {
            words.next(); // its value
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return word == "hook";
        }
    }
    false
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
