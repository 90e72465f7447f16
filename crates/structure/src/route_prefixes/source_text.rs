//! Reads the arguments of calls, the literals that names stand for, and the lines of a text.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    super::compile_pattern(
        r#"(?m)^[ \t]*(?:export[ \t]+)?(?:(?:const|let|var|val)[ \t]+)?(?<name>\w+)(?:[ \t]*:[ \t]*\w+)?[ \t]*:?=[ \t]*(?:"(?<double>[^"\n]*)"|'(?<single>[^'\n]*)')[ \t]*;?[ \t]*$"#,
    )
});

/// A text with what is looked up in it for each call.
pub(super) struct SourceText<'t> {
    pub(super) text: &'t str,
    /// The literals to which names are assigned on lines of their own; of several, the first.
    literals: HashMap<&'t str, &'t str>,
    /// Byte offsets of the line ends.
    line_ends: Vec<usize>,
}

impl<'t> SourceText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut literals = HashMap::new();
        for found in LITERAL.captures_iter(text) {
            let literal = found.name("double").or(found.name("single"));
            if let (Some(name), Some(literal)) = (found.name("name"), literal) {
                literals.entry(name.as_str()).or_insert(literal.as_str());
            }
        }
        let line_ends =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Self { text, literals, line_ends }
    }

    /// Returns the text that an expression is: a literal, or a name to which the file assigns one.
    pub(super) fn read_value(&self, expression: &str) -> Option<String> {
        let quote = expression.chars().next()?;
        if matches!(quote, '"' | '\'' | '`') {
            let inside = expression.strip_prefix(quote)?.strip_suffix(quote)?;
            return (!inside.contains(quote) && !inside.contains("${")).then(|| inside.to_owned());
        }
        self.literals.get(expression).map(|literal| (*literal).to_owned())
    }

    /// Returns the line of a byte, 1-based.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        self.line_ends.partition_point(|end| *end < at) as u32 + 1
    }
}

/// Returns the arguments of a call without the spaces around them, and the byte after its parenthesis. `start` is the byte after the
/// opening one. `None` if the call does not end within `most_bytes`.
pub(super) fn split_arguments(text: &str, start: usize, most_bytes: usize) -> Option<(Vec<&str>, usize)> {
    let bytes = &text.as_bytes()[..text.len().min(start + most_bytes)];
    let (mut found, mut depth, mut from, mut at) = (Vec::new(), 0u32, start, start);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                let ends = |byte: &u8| *byte == quote || *byte == b'\n' && quote != b'`';
                at += 1 + bytes[at + 1..].iter().position(ends)?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            byte @ (b',' | b')' | b']' | b'}') if depth == 0 => {
                let argument = text.get(from..at)?.trim();
                found.extend((!argument.is_empty()).then_some(argument));
                from = at + 1;
                if byte != b',' {
                    return Some((found, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
