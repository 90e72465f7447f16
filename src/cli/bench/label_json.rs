//! Reads labels as questions have them in JSON.

use serde::Deserialize;
use serde_json::Value;

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
}
