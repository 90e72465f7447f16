//! Parses the front matter of a memory file, and writes its values.

use std::str::FromStr;

use memod_base::types::parse_with_exact_numbers;
use serde_json::Value;

use super::{FENCE, RefusedValue};

/// Words that YAML does not read as text.
const RESERVED: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "y"];

/// A key of the front matter with its value.
pub(super) struct FrontEntry<'a> {
    pub(super) key: &'a str,
    /// The text after the colon, as written, without the last line end.
    pub(super) lines: String,
    /// Number of the key's line, from 1.
    line: usize,
}

/// The parts of a file.
pub(super) struct SplitFile<'a> {
    pub(super) entries: Vec<FrontEntry<'a>>,
    /// Lines that begin with a `#`.
    pub(super) comments: Vec<&'a str>,
    /// The text below the front matter.
    pub(super) content: &'a str,
}

/// Splits a file into its parts. An empty line between entries belongs to the value before it.
///
/// # Errors
/// When the file has no front matter, the front matter does not end, a line has another form, or a key appears twice.
pub(super) fn split_file(text: &str) -> Result<SplitFile<'_>, RefusedValue> {
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
        // The empty lines before this line belong to the value before them.
        if let Some(last) = entries.last_mut() {
            empty.iter().for_each(|line| last.push_line(line));
        }
        empty.clear();
        match whole.split_once(':') {
            _ if nth == 0 && line == FENCE => {}
            _ if nth == 0 => return refuse_form("line 1 is not ---".to_owned()),
            _ if line == FENCE => return Ok(SplitFile { entries, comments, content: &text[at..] }),
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

/// Returns the error for a file that does not have the expected form.
fn refuse_form<T>(why: String) -> Result<T, RefusedValue> {
    Err(RefusedValue::new("file", why)
        .with_hint("a file is a line ---, lines such as `tier: long`, a line ---, and the text"))
}

/// Returns whether a word may be a key.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl FrontEntry<'_> {
    /// Adds a line to the value.
    fn push_line(&mut self, line: &str) {
        self.lines.push('\n');
        self.lines.push_str(line);
    }

    /// Returns the error for a value that is not allowed; `why` continues a sentence that begins with the key.
    pub(super) fn value_error(&self, why: &str) -> RefusedValue {
        RefusedValue::new("file", format!("line {}: {} {why}", self.line, self.key))
    }

    /// Returns the value as it is written, which must be one line.
    fn single_line_value(&self) -> Result<&str, RefusedValue> {
        let value = self.lines.trim();
        if value.contains('\n') {
            return Err(self.value_error("has several lines, and takes one value"));
        }
        Ok(value)
    }

    /// Returns the value as text.
    pub(super) fn parse_text(&self) -> Result<String, RefusedValue> {
        self.parse_text_item(self.single_line_value()?)
    }

    /// Returns the value as a number.
    pub(super) fn parse_number<N: FromStr>(&self) -> Result<N, RefusedValue> {
        self.single_line_value()?.parse().map_err(|_| self.value_error("is not a valid number"))
    }

    /// Returns the value as JSON.
    pub(super) fn parse_json(&self) -> Result<Value, RefusedValue> {
        self.parse_json_item(self.single_line_value()?)
    }

    /// Returns the items of a list of texts.
    pub(super) fn parse_text_list(&self) -> Result<Vec<String>, RefusedValue> {
        self.list_items()?.into_iter().map(|item| self.parse_text_item(item)).collect()
    }

    /// Returns the items of a list of JSON values.
    pub(super) fn parse_json_list(&self) -> Result<Vec<Value>, RefusedValue> {
        self.list_items()?.into_iter().map(|item| self.parse_json_item(item)).collect()
    }

    /// Returns the items of a list as they are written: one on each line, or between brackets.
    fn list_items(&self) -> Result<Vec<&str>, RefusedValue> {
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

    /// Parses a text: in double quotes as JSON, in single quotes, or plain words.
    fn parse_text_item(&self, written: &str) -> Result<String, RefusedValue> {
        if written.starts_with('"') {
            return match self.parse_json_item(written)? {
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

    /// Parses a JSON value.
    fn parse_json_item(&self, written: &str) -> Result<Value, RefusedValue> {
        parse_with_exact_numbers(written).map_err(|error| self.value_error(&format!("is not JSON: {error}")))
    }
}

/// Returns the length of the item in a line `- item`, bytes; `None` for another line.
fn item_length(line: &str) -> Option<usize> {
    line.trim().strip_prefix("- ").map(str::trim).map(str::len)
}

/// Returns whether a character may be in a plain word.
fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./<>@+-".contains(c)
}

/// Returns a text as a value of the front matter: unchanged if YAML reads it as the same text, otherwise as JSON.
pub(super) fn plain_or_json(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| is_word_char(c) || c == ' ')
        && !text.ends_with(' ')
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}
