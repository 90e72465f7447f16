//! Reads the lines of a front matter, and writes its values.

use std::str::FromStr;

use memod_base::types::parse_exactly;
use serde_json::Value;

use super::{FENCE, Refused};

/// Words that YAML does not read as texts.
const RESERVED: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "y"];

/// A key with its value.
pub(super) struct FrontEntry<'a> {
    pub(super) key: &'a str,
    /// The text after the colon, as written, without the last line end.
    pub(super) lines: String,
    /// Line of the key, from 1.
    line: usize,
}

/// The parts of a file.
pub(super) struct FileParts<'a> {
    pub(super) entries: Vec<FrontEntry<'a>>,
    /// Lines that begin with a `#`.
    pub(super) comments: Vec<&'a str>,
    /// The text below the front matter.
    pub(super) content: &'a str,
}

/// Splits a file into its parts. An empty line is kept in the value before it.
///
/// # Errors
/// When there is no front matter, it does not end, a line is of another form, or a key is there twice.
pub(super) fn split_file(text: &str) -> Result<FileParts<'_>, Refused> {
    let mut entries: Vec<FrontEntry<'_>> = Vec::new();
    let mut comments = Vec::new();
    let (mut at, mut empty) = (0, Vec::new());
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        let whole = line.trim_end_matches(['\n', '\r']);
        let line = whole.trim_end();
        if nth > 0 && line.is_empty() {
            empty.push(whole);
            continue;
        }
        // They may be a part of the value before them.
        if let Some(last) = entries.last_mut() {
            empty.iter().for_each(|line| last.push_line(line));
        }
        empty.clear();
        match whole.split_once(':') {
            _ if nth == 0 && line == FENCE => {}
            _ if nth == 0 => return refuse_form("line 1 is not ---".to_owned()),
            _ if line == FENCE => return Ok(FileParts { entries, comments, content: &text[at..] }),
            _ if line.starts_with('#') => comments.push(whole),
            _ if line.starts_with("  ") && !entries.is_empty() => {
                entries.last_mut().expect("it is not empty").push_line(whole);
            }
            Some((key, value)) if is_key(key) && (value.is_empty() || value.starts_with(' ')) => {
                if entries.iter().any(|entry| entry.key == key) {
                    return refuse_form(format!("line {}: {key} appears twice", nth + 1));
                }
                entries.push(FrontEntry { key, lines: value.to_owned(), line: nth + 1 });
            }
            _ => return refuse_form(format!("line {} is neither `key: value` nor `  - item`", nth + 1)),
        }
    }
    refuse_form("the front matter does not end with ---".to_owned())
}

/// Refuses a file that is not of the expected form.
fn refuse_form<T>(why: String) -> Result<T, Refused> {
    Err(Refused::new("file", why)
        .with_hint("a file is a line ---, lines such as `tier: long`, a line ---, and the text"))
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl FrontEntry<'_> {
    fn push_line(&mut self, line: &str) {
        self.lines.push('\n');
        self.lines.push_str(line);
    }

    /// Returns the error for a value that is not allowed.
    pub(super) fn value_error(&self, why: &str) -> Refused {
        Refused::new("file", format!("line {}: {} {why}", self.line, self.key))
    }

    /// Returns the value in the line of the key.
    fn value(&self) -> Result<&str, Refused> {
        let value = self.lines.trim();
        if value.contains('\n') {
            return Err(self.value_error("has several lines, and takes one value"));
        }
        Ok(value)
    }

    pub(super) fn text(&self) -> Result<String, Refused> {
        self.text_in(self.value()?)
    }

    pub(super) fn number<N: FromStr>(&self) -> Result<N, Refused> {
        self.value()?.parse().map_err(|_| self.value_error("is not such a number"))
    }

    pub(super) fn json(&self) -> Result<Value, Refused> {
        self.json_in(self.value()?)
    }

    pub(super) fn texts(&self) -> Result<Vec<String>, Refused> {
        self.items()?.into_iter().map(|item| self.text_in(item)).collect()
    }

    pub(super) fn values(&self) -> Result<Vec<Value>, Refused> {
        self.items()?.into_iter().map(|item| self.json_in(item)).collect()
    }

    /// Returns the items of a list: one a line, or between brackets.
    fn items(&self) -> Result<Vec<&str>, Refused> {
        let value = self.lines.trim();
        if let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let items = inside.split(',').map(str::trim);
            return Ok(items.filter(|item| !item.is_empty()).collect());
        }
        let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let n_bytes = item_length(line)
                    .ok_or_else(|| self.value_error("is a list: write each item as `  - item`"))?;
                Ok(&line[line.len() - n_bytes..])
            })
            .collect()
    }

    fn text_in(&self, written: &str) -> Result<String, Refused> {
        if written.starts_with('"') {
            return match self.json_in(written)? {
                Value::String(text) => Ok(text),
                _ => Err(self.value_error("is not a text")),
            };
        }
        if let Some(inside) = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok(inside.replace("''", "'"));
        }
        if written.starts_with('#') || written.contains(" #") {
            return Err(self.value_error("has a #, which begins a comment in YAML; put it in double quotes"));
        }
        if written.starts_with(['[', '{', '|', '>', '&', '*', '!', '%', '@', '`']) {
            return Err(self.value_error("is not plain words; put it in double quotes"));
        }
        Ok(written.to_owned())
    }

    fn json_in(&self, written: &str) -> Result<Value, Refused> {
        parse_exactly(written).map_err(|error| self.value_error(&format!("is not JSON: {error}")))
    }
}

/// Returns the length in bytes of the item in a line, if it has one.
fn item_length(line: &str) -> Option<usize> {
    line.trim().strip_prefix("- ").map(str::trim).map(str::len)
}

/// Returns whether a character may be in a plain word.
fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./<>@+-".contains(c)
}

/// Returns a text as a value: as it is where YAML reads it so, otherwise as JSON.
pub(super) fn plain_or_json(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| is_word_char(c) || c == ' ')
        && !text.ends_with(' ')
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
