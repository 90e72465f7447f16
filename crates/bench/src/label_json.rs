//! Parses the labels of questions from JSON.

use serde::Deserialize;
use serde_json::Value;

use crate::asked_definitions::AnswerDefinition;
use crate::labelled_question::{LabelSpan, QuestionCorpus, RecordLabel};

/// A label of an answer, as it is in the JSON of a question.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum LabelJson {
    /// A text: a path, perhaps with lines or an anchor, or an id.
    Text(String),
    /// A path, and its first and last line if given.
    Lines(String, Option<(u32, u32)>),
}

impl TryFrom<Value> for LabelJson {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match (&value, value["path"].as_str()) {
            (Value::String(text), _) => Ok(Self::Text(text.clone())),
            (_, Some(path)) => Ok(Self::Lines(
                path.to_owned(),
                line_number(&value["start_line"]).zip(line_number(&value["end_line"])),
            )),
            _ => Err(
                "an answer is \"PATH\", \"PATH#L10-L20\", \"PATH#anchor\" or {\"path\": …, \"start_line\": …, \"end_line\": …}",
            ),
        }
    }
}

impl LabelJson {
    /// Converts the JSON into a label. In a corpus of sections or texts, the whole text is the id of a record.
    pub(crate) fn into_label(self, corpus: &QuestionCorpus) -> RecordLabel {
        match (self, corpus) {
            (Self::Text(text), QuestionCorpus::Files(candidates)) => match candidates {
                Some(paths) if paths.contains(&text) => whole_file_label(text),
                _ => parse_label(&text),
            },
            (Self::Text(text), _) => whole_file_label(text),
            (Self::Lines(path, None), _) => whole_file_label(strip_dot_prefix(&path).to_owned()),
            (Self::Lines(path, Some((first, last))), _) => {
                let path = strip_dot_prefix(&path).to_owned();
                RecordLabel {
                    id: format!("{path}#L{first}-L{last}"),
                    path,
                    span: LabelSpan::Lines(first, last),
                }
            }
        }
    }
}

fn line_number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|line| u32::try_from(line).ok())
}

/// Returns the number in a word such as `L10`.
fn parse_line_anchor(word: &str) -> Option<u32> {
    word.strip_prefix('L').and_then(|digits| digits.parse().ok())
}

/// Returns a path without `./` at its start.
fn strip_dot_prefix(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

fn whole_file_label(id: String) -> RecordLabel {
    RecordLabel { path: id.clone(), id, span: LabelSpan::Whole }
}

/// Parses a label: `PATH`, `PATH#L10`, `PATH#L10-L20` or `PATH#anchor`.
pub(crate) fn parse_label(text: &str) -> RecordLabel {
    let text = strip_dot_prefix(text);
    let Some((path, part)) = text.split_once('#').filter(|(_, part)| !part.is_empty()) else {
        return whole_file_label(text.to_owned());
    };
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let span = match parse_line_anchor(first).zip(parse_line_anchor(last)) {
        Some((first, last)) => LabelSpan::Lines(first, last),
        None => LabelSpan::Anchor(part.to_owned()),
    };
    RecordLabel { id: text.to_owned(), path: path.to_owned(), span }
}

/// A definition, as it is in the JSON of a question: an object with `path`, `lines` and perhaps `name` and `must`, or a text
/// `PATH#L10-L20`.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct DefinitionJson(pub(crate) AnswerDefinition);

impl TryFrom<Value> for DefinitionJson {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let read = match &value {
            Value::String(text) => match parse_label(text) {
                RecordLabel { path, span: LabelSpan::Lines(first, last), .. } => Some((path, (first, last))),
                _ => None,
            },
            _ => {
                let path = value["path"].as_str().map(|path| strip_dot_prefix(path).to_owned());
                path.zip(serde_json::from_value(value["lines"].clone()).ok())
            }
        };
        let (path, lines) = read.ok_or(
            "a definition is \"PATH#L10-L20\" or {\"path\": …, \"lines\": [10, 20], \"must\": true}",
        )?;
        let name = value["name"].as_str().unwrap_or_default().to_owned();
        Ok(Self(AnswerDefinition { path, lines, name, must: value["must"].as_bool().unwrap_or(true) }))
    }
}

/// Returns the distinct files of the definitions that must be read, or of all definitions if none is marked so.
pub(crate) fn required_files(definitions: &[AnswerDefinition]) -> Vec<RecordLabel> {
    let mut files: Vec<RecordLabel> = Vec::new();
    for definition in definitions.iter().filter(|definition| definition.is_required(definitions)) {
        if !files.iter().any(|file| file.path == definition.path) {
            files.push(whole_file_label(definition.path.clone()));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read() {
        let check = |text: &str, path: &str, span: LabelSpan| {
            let found = parse_label(text);
            assert_eq!((found.path.as_str(), &found.span), (path, &span), "{text}");
        };
        check("src/a.rs", "src/a.rs", LabelSpan::Whole);
        check("./src/a.rs", "src/a.rs", LabelSpan::Whole);
        check("src/a.rs#L10-L20", "src/a.rs", LabelSpan::Lines(10, 20));
        check("src/a.rs#L10", "src/a.rs", LabelSpan::Lines(10, 10));
        check("docs/x.md#set-up", "docs/x.md", LabelSpan::Anchor("set-up".to_owned()));
        check("docs/x.md#Lines", "docs/x.md", LabelSpan::Anchor("Lines".to_owned()));
        check("c#", "c#", LabelSpan::Whole);
    }
    #[test]
    fn definitions_are_read() {
        let read = |text: &str| serde_json::from_str::<DefinitionJson>(text).map(|read| read.0);
        let check = |text: &str, lines: (u32, u32), must: bool| {
            let AnswerDefinition { path, lines: found, must: is_must, .. } = read(text).expect("it is one");
            assert_eq!((path.as_str(), found, is_must), ("a.rs", lines, must), "{text}");
        };
        check(r#"{"path": "a.rs", "lines": [3, 9], "name": "f", "must": false}"#, (3, 9), false);
        check(r#"{"path": "./a.rs", "lines": [3, 9]}"#, (3, 9), true);
        check(r#""a.rs#L3-L9""#, (3, 9), true);
        for wrong in [r#""a.rs""#, r#"{"path": "a.rs"}"#, r#"{"path": "a.rs", "lines": [1]}"#, "1"] {
            assert!(
                read(wrong).is_err_and(|error| error.to_string().starts_with("a definition is ")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn files_are_those_that_must_be_read() {
        let check = |answers: &[(&str, bool)], expected: &[&str]| {
            let definition = |(path, must): &(&str, bool)| AnswerDefinition {
                path: (*path).to_owned(),
                lines: (1, 2),
                name: String::new(),
                must: *must,
            };
            let files = required_files(&answers.iter().map(definition).collect::<Vec<_>>());
            assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), expected);
        };
        check(&[("a", true), ("b", false), ("a", true), ("c", true)], &["a", "c"]);
        check(&[("b", false), ("a", false)], &["b", "a"]);
        check(&[], &[]);
    }
}
