//! Reports a command line that clap rejected, and prints help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use memod_terminal::rows::OutputShape;
use memod_terminal::{ColorMode, EXIT_USAGE, ErrorReport, GlobalArgs, JsonForm, Output};

use super::usage_hint::{find_command_path, find_usage_hint};
use super::words_without_verb::no_verb_error;
use crate::args::{find_dir_flag, has_separate_value};

/// Prints help and version to stdout, and any other error of clap to stderr or as JSON. Returns the exit status. `words` is the
/// command line, which begins with the program name.
pub(crate) fn report_usage_error(
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
    let dir = dir_argument(all.iter().cloned());
    let words = words_from_verb(all.into_iter());
    let shown = no_verb_error(error, &words, dir.as_deref()).unwrap_or_else(|| ErrorReport {
        code: "usage",
        message: missing_words_message(error, &words).unwrap_or_else(|| error_message(error)),
        hint: Some(find_usage_hint(error, &words)),
        exit_status: EXIT_USAGE,
    });
    let global = GlobalArgs {
        json,
        dir: None,
        color: ColorMode::Never,
        quiet: false,
        no_pager: true,
        client: "cli",
        agent: None,
    };
    let _ = Output::new(&global, OutputShape::for_single_result(json)).write_error(&shown);
    EXIT_USAGE
}

/// Returns the message of an error in one line.
fn error_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.split("\n\n").next().unwrap_or(text).lines().map(str::trim);
    // Leave out the possible values, which the hint lists.
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("[possible values")).collect();
    replace_parse_reason(&lines.join(" "))
}

/// Returns the message that names the verb and what it needs; `None` if nothing is missing.
fn missing_words_message(error: &clap::Error, words: &[String]) -> Option<String> {
    let ContextValue::Strings(missing) = error.get(ContextKind::InvalidArg)? else { return None };
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    is_missing.then(|| format!("`{}` needs {}", find_command_path(words), missing.join(" ")))
}

/// Returns a message in which plain words replace Rust's reason why a number does not parse.
fn replace_parse_reason(message: &str) -> String {
    let reasons = [
        ("invalid digit found in string", "not a whole number"),
        ("number too large to fit in target type", "too large a number"),
        ("number too small to fit in target type", "too small a number"),
        ("cannot parse integer from empty string", "not a whole number"),
    ];
    let found = reasons.into_iter().find_map(|(rust, plain)| Some((message.strip_suffix(rust)?, plain)));
    found.map_or_else(|| message.to_owned(), |(what, plain)| format!("{what}{plain}"))
}

/// Returns the argument of the first `-C` among the words of a command line: `-C DIR` or `-CDIR`, also after other short flags.
pub(crate) fn dir_argument(mut words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let (flag, at) = words.find_map(|word| find_dir_flag(&word).map(|at| (word, at)))?;
    if has_separate_value(&flag) {
        return words.next().map(PathBuf::from);
    }
    flag.to_str().map(|flag| PathBuf::from(&flag[at + 1..]))
}

/// Returns the verb and the words after it, up to the next flag.
pub(super) fn words_from_verb(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut words = words.skip(1);
    let mut typed = Vec::new();
    while let Some(word) = words.next() {
        if !word.as_encoded_bytes().starts_with(b"-") {
            typed.push(word.to_string_lossy().into_owned());
        } else if !typed.is_empty() {
            break;
        } else if has_separate_value(&word) {
            words.next(); // its value
        }
    }
    typed
}

/// Returns whether the verb of a command line that clap rejected is `hook` or `hooks agent`.
pub(crate) fn is_agent_hook(words: impl Iterator<Item = OsString>) -> bool {
    let words = words_from_verb(words);
    matches!(words.iter().map(String::as_str).collect::<Vec<_>>()[..], ["hook", ..] | ["hooks", "agent", ..])
}

/// Returns the form of JSON that a command line asks for, though clap rejected it; `None` if it asks for no JSON.
pub(crate) fn requested_json_form(words: impl Iterator<Item = OsString>) -> Option<JsonForm> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_found_in_either_form() {
        let cases = [
            ("memo -C a list", Some("a")),
            ("memo -Ca list", Some("a")),
            ("memo -qC a list", Some("a")),
            ("memo -qCa list", Some("a")),
            ("memo --color C list", None),
            ("memo -Ca list -C b", Some("a")),
            ("memo list", None),
            ("memo -C", None),
        ];
        for (line, expected) in cases {
            assert_eq!(
                dir_argument(line.split(' ').map(OsString::from)),
                expected.map(PathBuf::from),
                "{line}"
            );
        }
    }
}
