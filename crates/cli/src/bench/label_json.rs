//! Reads labels as questions have them in JSON.

use serde::Deserialize;
use serde_json::Value;

use super::asked_definitions::AnswerDefinition;
use super::labels::{Corpus, Label, Span};

/// A label as a line of questions has it.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum LabelJson {
    Text(String),
    Lines(String, Option<(u32, u32)>),
}

impl TryFrom<Value> for LabelJson {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let line = |key: &str| value[key].as_u64().and_then(|line| u32::try_from(line).ok());
        match (&value, value["path"].as_str()) {
            (Value::String(text), _) => Ok(Self::Text(text.clone())),
            (_, Some(path)) => Ok(Self::Lines(path.to_owned(), line("start_line").zip(line("end_line")))),
            _ => Err(
                "an answer is \"PATH\", \"PATH#L10-L20\", \"PATH#anchor\" or {\"path\": …, \"start_line\": …, \"end_line\": …}",
            ),
        }
    }
}

impl LabelJson {
    /// Returns the label. In a set of sections or texts, a text is an id, whatever characters are in it.
    pub(super) fn read(self, corpus: &Corpus) -> Label {
        match (self, corpus) {
            (Self::Text(text), Corpus::Files(candidates)) => match candidates {
                Some(paths) if paths.contains(&text) => whole(text),
                _ => label(&text),
            },
            (Self::Text(text), _) => whole(text),
            (Self::Lines(path, None), _) => whole(without_dot(&path).to_owned()),
            (Self::Lines(path, Some((first, last))), _) => {
                let path = without_dot(&path).to_owned();
                Label { id: format!("{path}#L{first}-L{last}"), path, span: Span::Lines(first, last) }
            }
        }
    }
}

fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

fn whole(id: String) -> Label {
    Label { path: id.clone(), id, span: Span::Whole }
}

/// Returns the label of a text: `PATH`, `PATH#L10`, `PATH#L10-L20` or `PATH#anchor`.
pub(super) fn label(text: &str) -> Label {
    let text = without_dot(text);
    let Some((path, part)) = text.split_once('#').filter(|(_, part)| !part.is_empty()) else {
        return whole(text.to_owned());
    };
    let number = |word: &str| word.strip_prefix('L').and_then(|digits| digits.parse::<u32>().ok());
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let span = match number(first).zip(number(last)) {
        Some((first, last)) => Span::Lines(first, last),
        None => Span::Anchor(part.to_owned()),
    };
    Label { id: text.to_owned(), path: path.to_owned(), span }
}

/// A definition as a line of questions has it: with `path`, `lines`, perhaps `name` and `must`, or as text with its lines.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct DefinitionJson(pub(super) AnswerDefinition);

impl TryFrom<Value> for DefinitionJson {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let read = match &value {
            Value::String(text) => match label(text) {
                Label { path, span: Span::Lines(first, last), .. } => Some((path, (first, last))),
                _ => None,
            },
            _ => {
                let path = value["path"].as_str().map(|path| without_dot(path).to_owned());
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

/// Returns the files of the definitions that must be read, or of all where none must; each once.
pub(super) fn files_of(definitions: &[AnswerDefinition]) -> Vec<Label> {
    let mut files: Vec<Label> = Vec::new();
    for definition in definitions.iter().filter(|definition| definition.is_required(definitions)) {
        if !files.iter().any(|file| file.path == definition.path) {
            files.push(whole(definition.path.clone()));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read() {
        let check = |text: &str, path: &str, span: Span| {
            let found = label(text);
            assert_eq!((found.path.as_str(), &found.span), (path, &span), "{text}");
        };
        check("src/a.rs", "src/a.rs", Span::Whole);
        check("./src/a.rs", "src/a.rs", Span::Whole);
        check("src/a.rs#L10-L20", "src/a.rs", Span::Lines(10, 20));
        check("src/a.rs#L10", "src/a.rs", Span::Lines(10, 10));
        check("docs/x.md#set-up", "docs/x.md", Span::Anchor("set-up".to_owned()));
        check("docs/x.md#Lines", "docs/x.md", Span::Anchor("Lines".to_owned()));
        check("c#", "c#", Span::Whole);
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
            let files = files_of(&answers.iter().map(definition).collect::<Vec<_>>());
            assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), expected);
        };
        check(&[("a", true), ("b", false), ("a", true), ("c", true)], &["a", "c"]);
        check(&[("b", false), ("a", false)], &["b", "a"]);
        check(&[], &[]);
    }
}
