//! Reports a command line that clap rejected, and prints help.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use memod_terminal::rows::OutputShape;
use memod_terminal::text::{escape_for_display, quote_text};
use memod_terminal::{ColorMode, CommandContext, EXIT_USAGE, ErrorReport, GlobalArgs, JsonForm, Output};

use super::undo_hint::find_undo_hint;
use super::usage_hint::find_usage_hint;

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
        message: error_message(error),
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

/// Returns the error for words that do not begin with a verb, and are probably a query; `None` for any other error. `dir` is the
/// argument of `-C`.
fn no_verb_error(error: &clap::Error, words: &[String], dir: Option<&Path>) -> Option<ErrorReport> {
    match error.get(ContextKind::InvalidSubcommand)? {
        // The first word is unknown, not a subcommand of a verb.
        ContextValue::String(first)
            if error.kind() == ErrorKind::InvalidSubcommand && words.first() == Some(first) => {}
        _ => return None,
    }
    let (first, others) = words.split_first()?;
    let typed = quote_text(&escape_for_display(&words.join(" ")));
    let search = format!("memo search {typed}");
    let is_question = first.contains(char::is_whitespace) || (!others.is_empty() && begins_a_question(first));
    let hint = match (verb_for_alias(first), most_similar_verb(error, first)) {
        _ if first == "undo" => {
            let undo = find_undo_hint(CommandContext::find(dir).ok().as_ref());
            format!("{undo}; to find the words: {search}")
        }
        _ if first == "bench" => format!("memod bench measures answers; to find the words: {search}"),
        (Some(verb), _) => format!("memo {verb} does that; to find the words: {search}"),
        (None, Some(verb)) if !is_question => {
            let meant: Vec<&str> = std::iter::once(verb).chain(others.iter().map(String::as_str)).collect();
            format!("did you mean memo {}? to find the words: {search}", escape_for_display(&meant.join(" ")))
        }
        _ => search,
    };
    let message = format!("{typed} is no command");
    Some(ErrorReport { code: "usage", message, hint: Some(hint), exit_status: EXIT_USAGE })
}

/// Returns whether a word begins a question; `why` is a verb.
fn begins_a_question(word: &str) -> bool {
    let word = word.to_lowercase();
    ["can", "do", "does", "how", "is", "are", "what", "when", "where", "which", "who", "whose"]
        .contains(&word.as_str())
}

/// Returns the verb for a word that other programs use for the same action.
fn verb_for_alias(word: &str) -> Option<&'static str> {
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

/// Least similarity (Jaro-Winkler) of a suggested verb to the typed word.
const MIN_SIMILARITY: f64 = 0.85;

fn most_similar_verb<'a>(error: &'a clap::Error, word: &str) -> Option<&'a str> {
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else {
        return None;
    };
    // clap sorts the suggestions; the last is the most similar.
    similar.last().map(String::as_str).filter(|verb| strsim::jaro_winkler(verb, word) >= MIN_SIMILARITY)
}

/// Returns the argument of the first `-C` among the words of a command line: `-C DIR` or `-CDIR`.
pub(crate) fn dir_argument(mut words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let flag = words.find(|word| word.as_encoded_bytes().starts_with(b"-C"))?;
    match flag.to_str().map(|flag| &flag["-C".len()..]) {
        Some("") => words.next().map(PathBuf::from),
        attached => attached.map(PathBuf::from),
    }
}

/// Returns the verb and the words after it, up to the next flag.
fn words_from_verb(words: impl Iterator<Item = OsString>) -> Vec<String> {
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
pub(crate) fn is_agent_hook(words: impl Iterator<Item = OsString>) -> bool {
    words_from_verb(words).first().is_some_and(|word| word == "hook")
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
