//! Hashes the text of each definition, independent of its position.

use std::collections::HashMap;
use std::ops::Range;

use memod_base::types::{Definition, TextHash};

use super::outline::{DefinitionItem, DefinitionOutline};
use super::tags::TagKind;
use crate::chunks::cut_text::LineIndex;

/// Returns the definitions of a file with the hashes of their texts, in order, one for each qualified name: clauses,
/// overloads and variants of one name count as one.
pub(crate) fn hash_definitions(
    text: &str,
    outline: &DefinitionOutline<'_>,
    lines: &LineIndex,
) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    let mut by_title: HashMap<&str, usize> = HashMap::new();
    for item in outline.items.iter().filter(|item| item.kind != TagKind::Scope) {
        let own = normal_text(text, item);
        let definition = Definition {
            title: item.title.clone(),
            names: item.joined_names(),
            lines: lines.line_span(&item.span),
            text: TextHash::hash_bytes(own.as_bytes()),
            shape: TextHash::hash_bytes(blank_own_names(&own, &item.names).as_bytes()),
            is_field: item.kind == TagKind::Field,
            n_overloads: u32::from(decorated_part(&own) == Some(DecoratedPart::Overload)),
        };
        let part = decorated_part(&own);
        match by_title.get(item.title.as_str()).map(|at| &mut found[*at]) {
            Some(known) if known.is_field && !definition.is_field => *known = definition,
            Some(known) if definition.is_field && !known.is_field => {}
            Some(known) => {
                let lines = united_lines(known, &definition, part);
                unite_definitions(known, &definition);
                (known.lines, known.n_overloads) = (lines, known.n_overloads + definition.n_overloads);
            }
            None => {
                by_title.insert(&item.title, found.len());
                found.push(definition);
            }
        }
    }
    found
}

/// A Python definition that belongs to another definition of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecoratedPart {
    /// A signature of a function that is implemented after it: `@overload`.
    Overload,
    /// The setter or deleter of a property: `@name.setter`.
    Accessor,
}

/// Returns the part that the decorators at the start of a definition's text make it.
fn decorated_part(text: &str) -> Option<DecoratedPart> {
    let decorators = text.lines().take_while(|line| line.starts_with('@')).map(|line| line[1..].trim());
    let mut parts = decorators.filter_map(|decorator| match decorator.rsplit('.').next()? {
        "overload" => Some(DecoratedPart::Overload),
        "setter" | "deleter" | "getter" if decorator.contains('.') => Some(DecoratedPart::Accessor),
        _ => None,
    });
    parts.next()
}

/// Returns the lines of a definition that is declared once more: those of both; those of the implementation, once it comes after
/// its overloads; and those of a property without an accessor that is elsewhere.
fn united_lines(known: &Definition, more: &Definition, part: Option<DecoratedPart>) -> (u32, u32) {
    const MOST_BETWEEN: u32 = 2;
    match part {
        None if known.n_overloads > 0 => more.lines,
        Some(DecoratedPart::Accessor) if more.lines.0 > known.lines.1 + MOST_BETWEEN => known.lines,
        _ => (known.lines.0.min(more.lines.0), known.lines.1.max(more.lines.1)),
    }
}

fn unite_definitions(known: &mut Definition, more: &Definition) {
    known.text = joined_hash(&known.text, &more.text);
    known.shape = joined_hash(&known.shape, &more.shape);
}

fn joined_hash(first: &TextHash, second: &TextHash) -> TextHash {
    TextHash::hash_bytes(&[first.0, second.0].concat())
}

/// Returns the span of a definition: with the attributes above it, but without the comments above the attributes.
fn own_span(text: &str, item: &DefinitionItem<'_>) -> Range<usize> {
    let mut start = item.span.start.min(item.node.start);
    for doc in docs_above(item) {
        if text.get(start..doc.start).is_some_and(|gap| gap.trim().is_empty()) {
            start = doc.end;
        }
    }
    let blank = text.get(start..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    let end = if item.kind == TagKind::Field { item.span.end } else { item.node.end };
    start + blank..end
}

fn docs_above<'a>(item: &'a DefinitionItem<'_>) -> impl Iterator<Item = &'a Range<usize>> {
    item.docs.iter().filter(|doc| doc.end <= item.node.start)
}

/// Returns the text of a definition in its normal form: attributes and everything from the first keyword to the end,
/// without comments above, moved to the left margin, and with `\n` at the ends of lines.
fn normal_text(text: &str, item: &DefinitionItem<'_>) -> String {
    let Range { start: mut at, end } = own_span(text, item);
    let mut own = String::new();
    for doc in docs_above(item).filter(|doc| doc.end > own_span(text, item).start) {
        own.push_str(text.get(at..doc.start).unwrap_or_default().trim_start());
        at = doc.end;
    }
    own.push_str(text.get(at..end).unwrap_or_default().trim());
    dedent_lines(&own)
}

/// Returns the lines without the blanks that all of them but the first begin with.
fn dedent_lines(text: &str) -> String {
    let common = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let mut lines =
        text.lines().take(1).chain(text.lines().skip(1).map(|line| line.get(common..).unwrap_or_default()));
    let mut normal = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        normal.push('\n');
        normal.push_str(line);
    }
    normal
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text with NUL in place of the definition's own names where they are declared or called, so that a rename does
/// not change the result. Other mentions of the names, for example in messages, stay.
fn blank_own_names(text: &str, names: &[&str]) -> String {
    let mut shape = String::with_capacity(text.len());
    let mut declared: Vec<&str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()));
        let is_own = names.contains(&word) && (after.starts_with('(') || !declared.contains(&word));
        if is_own {
            declared.push(word);
        }
        shape.push_str(if is_own { "\0" } else { word });
        let (other, next) = after.split_at(after.find(is_word_char).unwrap_or(after.len()));
        shape.push_str(other);
        rest = next;
    }
    shape
}

#[cfg(test)]
mod tests {
    use memod_base::types::Definition;

    use crate::extract;

    fn of(path: &str, text: &str) -> Vec<Definition> {
        extract(path, text).definitions
    }

    fn one(path: &str, text: &str, title: &str) -> Definition {
        let found = of(path, text).into_iter().find(|definition| definition.title == title);
        found.unwrap_or_else(|| panic!("{title} is not in {:?}", of(path, text)))
    }

    const RUST: &str = "\
/// Says hello.
#[must_use]
pub fn hello(name: &str) -> String {
    // By name.
    format!(\"hello {name}\")
}

impl Key {
    fn new() -> Self {
        Self
    }
}
";

    #[test]
    fn only_its_own_text_counts() {
        let was = one("a.rs", RUST, "hello");
        assert_eq!(was.lines, (1, 6));
        let same = [
            RUST.replace('\n', "\r\n"),
            format!("// new\n\nfn other() {{}}\n{RUST}"),
            RUST.replace("Says hello", "Greets"),
            RUST.replace("/// Says hello.\n", ""),
            RUST.replace("        Self\n", "        Self { a: 1 }\n"),
        ];
        for text in same {
            assert_eq!(one("a.rs", &text, "hello").text, was.text, "{text}");
        }
        let other = [
            RUST.replace("By name", "By the name"),
            RUST.replace("#[must_use]\n", ""),
            RUST.replace("hello {name}", "hi {name}"),
        ];
        for text in other {
            assert_ne!(one("a.rs", &text, "hello").text, was.text, "{text}");
        }
        let method = one("a.rs", RUST, "Key::new");
        let moved =
            "mod keys {\n    impl Key {\n        fn new() -> Self {\n            Self\n        }\n    }\n}\n";
        assert_eq!(one("a.rs", moved, "keys::Key::new").text, method.text, "at another margin");
    }

    #[test]
    fn a_shape_stays_when_the_name_changes() {
        let was = one("a.rs", RUST, "hello");
        let renamed = RUST.replace("fn hello", "fn greet");
        let is = one("a.rs", &renamed, "greet");
        assert_eq!((is.shape == was.shape, is.text == was.text), (true, false));
        let python = "def fac(n):\n    return 1 if n < 2 else n * fac(n - 1)\n";
        let renamed = one("a.py", &python.replace("fac", "factorial"), "factorial");
        assert_eq!(renamed.shape, one("a.py", python, "fac").shape, "its uses of itself too");
    }

    #[test]
    fn what_has_one_name_is_one() {
        let text = "#[cfg(unix)]\nfn f() -> u8 {\n    1\n}\n\n#[cfg(windows)]\nfn f() -> u8 {\n    2\n}\n";
        let was = one("a.rs", text, "f");
        assert_eq!((of("a.rs", text).len(), was.lines), (1, (1, 9)));
        assert_ne!(one("a.rs", &text.replace("    2", "    3"), "f").text, was.text);
        assert_ne!(one("a.rs", &text.replace("    1", "    3"), "f").text, was.text);
    }
}
