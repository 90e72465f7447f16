//! Extracts the words and names of a prompt, without pasted text.
//!
//! A prompt consists of prose, and perhaps a pasted stack trace, log or code. Words are taken from the prose only, and names of
//! code from the whole prompt.

use std::collections::HashSet;

use memod_base::types::last_part;
use memod_text::words::{TokenForm, joined_name, write_words};

use crate::query::is_stop_word;

/// Bytes of a prompt that are read.
const MAX_PROMPT_BYTES: usize = 64 << 10;
/// Most words of a prompt. Later words are left out.
const MOST_WORDS: usize = 40;
/// Most names of a prompt. Later names are left out.
const MOST_NAMES: usize = 32;
/// Bytes of the shortest name, in its joined form. Shorter names mean nothing: `e.g.`, `x_1`.
const MIN_NAME: usize = 4;
/// Least share of letters and spaces among the characters of a line of prose.
const PROSE_SHARE: f64 = 0.8;
/// Beginnings of the lines of a trace, a log, a diff or a shell session.
const PASTED_STARTS: [&str; 16] = [
    "at ",
    "File \"",
    "Traceback",
    "thread '",
    "goroutine ",
    "error[",
    "error: ",
    "warning: ",
    "-->",
    "= note",
    "| ",
    "$ ",
    "+++",
    "---",
    "@@",
    "caused by",
];
/// Signs that make a word a name of code.
const NAME_MARKS: [&str; 6] = ["_", "::", "()", "/", "#", "."];
/// Words that prompts to a coding agent contain regardless of their subject. Sorted.
const COMMON_WORDS: [&str; 133] = [
    "add", "added", "again", "another", "answer", "back", "bad", "best", "better", "break", "broken", "bug",
    "call", "change", "changed", "check", "clean", "code", "command", "comment", "compile", "continue",
    "correct", "create", "day", "delete", "diff", "done", "edit", "edited", "error", "example", "explain",
    "fail", "failed", "failing", "feature", "file", "find", "fine", "first", "fix", "fixed", "follow",
    "found", "function", "get", "give", "go", "good", "great", "happens", "hello", "help", "hey", "hi",
    "idea", "import", "instead", "issue", "just", "keep", "know", "last", "later", "let", "like", "line",
    "list", "look", "make", "maybe", "mean", "method", "missing", "more", "move", "name", "need", "new",
    "next", "nice", "no", "not", "now", "ok", "okay", "old", "one", "only", "open", "option", "other",
    "perfect", "please", "print", "problem", "put", "question", "read", "refactor", "remove", "rename",
    "return", "revert", "right", "run", "same", "say", "see", "show", "simple", "start", "still", "stop",
    "sure", "take", "tell", "test", "thank", "thing", "think", "time", "today", "try", "undo", "update",
    "use", "used", "using", "want", "way", "yes",
];

/// The words and names of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptTerms {
    /// The words of the prose that are not common, as typed, to be embedded.
    pub topic: String,
    /// The words of the prose in the form of the index, each once, without stop words, at most 40.
    pub words: Vec<String>,
    /// Names of code in the whole prompt, in the form of [`joined_name`], and flags of one letter; at most 32.
    pub names: Vec<String>,
}

/// Extracts the terms of a prompt.
pub fn parse_prompt(prompt: &str) -> PromptTerms {
    let prompt = &prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)];
    let prose = extract_prose(prompt);
    let (mut words, mut names) = (distinct_words(&prose), Vec::new());
    let mut seen = HashSet::new();
    words.truncate(MOST_WORDS);
    // Names in the prose come first: a trace has many.
    for name in find_code_names(&prose).into_iter().chain(find_code_names(prompt)) {
        if names.len() < MOST_NAMES && seen.insert(name.clone()) {
            names.push(name);
        }
    }
    let topic: Vec<&str> = prose
        .split_whitespace()
        .filter(|word| distinct_words(word).iter().any(|token| !is_common_word(token)))
        .collect();
    PromptTerms { topic: topic.join(" "), words, names }
}

impl PromptTerms {
    /// Returns whether the prompt has neither a topic nor names.
    pub fn is_empty(&self) -> bool {
        self.topic.is_empty() && self.names.is_empty()
    }
}

/// Returns whether a word of the index says little about the subject of a prompt.
pub(super) fn is_common_word(token: &str) -> bool {
    is_listed_common(token)
        || token.strip_suffix('s').is_some_and(is_listed_common)
        || token == "different"
        || token == "difference"
}

/// Returns whether a word is in [`COMMON_WORDS`].
fn is_listed_common(word: &str) -> bool {
    COMMON_WORDS.binary_search(&word).is_ok()
}

/// Returns the words of a text in the form of the index, each once, without stop words. Of a name, returns the whole and the parts.
pub(super) fn distinct_words(text: &str) -> Vec<String> {
    let mut stream = String::new();
    write_words(text, TokenForm::Both, &mut stream);
    let mut seen = HashSet::new();
    let words = stream.split_ascii_whitespace().filter(|word| word.len() > 1 && !is_stop_word(word));
    words.filter(|word| seen.insert(*word)).map(str::to_owned).collect()
}

/// Returns the names of code in a text, each once: paths, flags and qualified names as a whole, and their last parts.
pub(super) fn find_code_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for raw in text.split(|c: char| c.is_whitespace() || c == '=' || c == ',') {
        let is_quoted = raw.contains('`');
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && !"_-/.()".contains(c));
        let word = word.trim_end_matches(['.', '-', '/']).trim_start_matches(['(', '.']);
        if is_short_flag(word) {
            names.push(word.to_owned());
        }
        let is_flag = word.starts_with("--") && word.len() > MIN_NAME;
        if !(is_quoted || is_flag || looks_like_code_name(word)) {
            continue;
        }
        let last = word.rsplit(['/', ':', '#']).next().unwrap_or(word);
        let member = if word.contains('/') { last } else { last_part(last) };
        for name in [word, last, member] {
            let is_own = name == word || looks_like_code_name(name);
            let name = joined_name(name);
            if is_own && name.len() >= MIN_NAME {
                names.push(name);
            }
        }
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// Returns whether a word is a flag of one letter: `-z`.
fn is_short_flag(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic())
}

/// Returns whether a word is spelled like code.
fn looks_like_code_name(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mut pairs = inner.chars().zip(inner.chars().skip(1));
    let has_change = pairs.any(|(left, right)| left.is_lowercase() && right.is_uppercase());
    has_change || NAME_MARKS.iter().any(|mark| inner.contains(mark) || word.ends_with("()") && *mark == "()")
}

/// Returns the lines of prose. If they contain no words, adds the first and the last of the other lines.
fn extract_prose(prompt: &str) -> String {
    let lines: Vec<&str> = prompt.lines().filter(|line| !line.trim().is_empty()).collect();
    if let [line] = lines.as_slice() {
        return (*line).trim().to_owned();
    }
    let mut is_fenced = false;
    let mut prose = Vec::new();
    for line in &lines {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && is_prose(line) {
            prose.push(line.trim());
        }
    }
    if distinct_words(&prose.join(" ")).is_empty() {
        let pasted: Vec<_> =
            lines.iter().map(|line| line.trim()).filter(|line| !line.starts_with("```")).collect();
        prose.extend(pasted.first());
        prose.extend(pasted.last());
    }
    prose.join("\n")
}

/// Returns whether a line is prose rather than code or a line of a log or trace.
fn is_prose(line: &str) -> bool {
    let text = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let starts_like_paste = PASTED_STARTS.iter().any(|start| text.starts_with(start));
    let starts_with_date = text.as_bytes().get(..4).is_some_and(|year| year.iter().all(u8::is_ascii_digit));
    let n_chars = text.chars().count();
    let n_plain = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    !is_indented && !starts_like_paste && !starts_with_date && n_plain as f64 >= PROSE_SHARE * n_chars as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_told_from_what_is_pasted() {
        let check = |prompt: &str, expected: &str| assert_eq!(extract_prose(prompt), expected, "{prompt}");
        check("run the tests", "run the tests");
        check("why does this fail?\n```\nlet x = 1;\n```\nplease look", "why does this fail?\nplease look");
        check("it dies:\n  File \"a.py\", line 3, in f\n    raise X\nKeyError: 'a'", "it dies:");
        check(
            "2026-01-02T03:04:05 level=info msg=x\n    at f (a.js:3)",
            "2026-01-02T03:04:05 level=info msg=x\nat f (a.js:3)",
        );
        check("", "");
    }

    #[test]
    fn names_are_found_anywhere() {
        let check = |text: &str, expected: &[&str]| assert_eq!(find_code_names(text), expected, "{text}");
        check("call `teardown` in src/app.py, please.", &["teardown", "srcapppy", "apppy"]);
        check(
            "Session::login or parse_query() with --max-columns",
            &["sessionlogin", "parsequery", "maxcolumns"],
        );
        check("e.g. a well-known thing, and/or not", &["andor"]);
        check("set FLASK_ENV=production, or -z", &["flaskenv", "-z"]);
        check("getUserById", &["getuserbyid"]);
        assert_eq!(parse_prompt("what\n```\nfoo_bar(1)\n```").names, ["foobar1"]);
    }

    #[test]
    fn words_are_those_of_the_index() {
        assert_eq!(
            parse_prompt("How does the getUser cache work?").words,
            ["getuser", "get", "user", "cache", "work"]
        );
        assert!(parse_prompt("is it so?").words.is_empty());
        let long = format!("{} last", "wörd ".repeat(100_000));
        let words = parse_prompt(&long).words;
        assert!(words.contains(&"word".to_owned()) && !words.contains(&"last".to_owned()), "{words:?}");
    }

    #[test]
    fn a_prompt_of_common_words_has_no_topic() {
        assert!(COMMON_WORDS.is_sorted());
        for prompt in ["run the tests", "yes, do it", "thanks!", "explain what this function returns", "..."]
        {
            assert!(parse_prompt(prompt).is_empty(), "{prompt}");
        }
        assert_eq!(parse_prompt("please fix the token cache, thanks").topic, "token cache,");
    }
}
