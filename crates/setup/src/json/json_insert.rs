//! Computes the piece of text that inserts an entry into JSON, in the layout of the text around it.
//!
//! An entry is inserted at the start of its object or array. So one contiguous piece is inserted and no other line changes; at
//! the end, the line before would need a comma. Removing the piece restores every byte.

use super::config_value::{ConfigValue, JsonLayout, quote_json};
use super::json_tree::JsonNode;
use crate::Refusal;
use crate::text_lines::{detect_eol, indent_unit, line_indent};

/// A piece of text that was inserted into a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub(crate) struct InsertedPiece {
    /// Byte offset of the piece in the text that already has all earlier pieces.
    pub(crate) at: usize,
    /// The inserted text.
    pub(crate) text: String,
    /// Keys that lead to the object or array into which the piece was inserted, and which existed before.
    pub(crate) inside: Vec<String>,
}

/// Returns the piece that inserts a member at a path, together with missing objects on the path. Without a root, the piece is a
/// whole document.
///
/// # Errors
/// When a value on the path is not an object.
pub(crate) fn piece_for_member(
    text: &str,
    root: Option<&JsonNode>,
    path: &[&str],
    value: &ConfigValue,
) -> Result<InsertedPiece, Refusal> {
    let Some(mut container) = root else { return Ok(piece_for_document(text, path, value)) };
    let mut depth = 0;
    while depth + 1 < path.len()
        && let Some(inner) = container.get(path[depth])
    {
        depth += 1;
        if !inner.is_object() {
            return Err(Refusal::WrongType { path: path[..depth].join("."), expected: "an object" });
        }
        container = inner;
    }
    let (inside, missing) = path.split_at(depth);
    Ok(piece_for_item(text, container, inside, |layout| render_member(missing, value, layout)))
}

/// Returns the piece that inserts an item at the start of an object or array; `item` renders the item in a layout.
pub(crate) fn piece_for_item(
    text: &str,
    container: &JsonNode,
    inside: &[&str],
    item: impl Fn(JsonLayout<'_>) -> String,
) -> InsertedPiece {
    let (open, close) = (container.range.start + 1, container.range.end - 1);
    let (eol, unit) = (detect_eol(text), indent_unit(text));
    let first = container.items().first().map(|item| item.range.start);
    let base = line_indent(text, container.range.start);
    let lines = |indent: &str| item(JsonLayout::Lines { indent, unit, eol });
    let is_broken = text[open..first.unwrap_or(close)].contains('\n');
    let (at, piece) = match first {
        Some(first) if is_broken => {
            let indent = line_indent(text, first);
            (skip_line_comment(text, open), format!("{eol}{indent}{},", lines(indent)))
        }
        Some(first) => (first, format!("{}, ", item(JsonLayout::Compact))),
        None => {
            let indent = format!("{base}{unit}");
            let line = format!("{eol}{indent}{}", lines(&indent));
            if is_broken {
                (skip_line_comment(text, open), line)
            } else if inside.is_empty() || text.trim_end().contains('\n') {
                (open, format!("{line}{eol}{base}"))
            } else {
                (open, item(JsonLayout::Compact))
            }
        }
    };
    InsertedPiece { at, text: piece, inside: inside.iter().map(|&key| key.to_owned()).collect() }
}

/// Returns the piece that adds a document to a text without a JSON value.
fn piece_for_document(text: &str, path: &[&str], value: &ConfigValue) -> InsertedPiece {
    let eol = detect_eol(text);
    let inner = render_member(path, value, JsonLayout::Lines { indent: "  ", unit: "  ", eol });
    let gap = if text.is_empty() || text.ends_with('\n') || text == "\u{feff}" { "" } else { eol };
    InsertedPiece { at: text.len(), text: format!("{gap}{{{eol}  {inner}{eol}}}{eol}"), inside: Vec::new() }
}

/// Renders the member at a path, together with the missing objects on the path.
fn render_member(path: &[&str], value: &ConfigValue, layout: JsonLayout<'_>) -> String {
    let inner = path[1..].iter().rev().fold(value.clone(), wrap_value);
    format!("{}: {}", quote_json(path[0]), inner.render(layout))
}

/// Returns an object with this value as its only member.
fn wrap_value(value: ConfigValue, key: &&str) -> ConfigValue {
    ConfigValue::Map(vec![((*key).to_owned(), value)])
}

/// Returns the end of a comment that is alone on the rest of the line after `at`; `at` itself if there is none.
fn skip_line_comment(text: &str, at: usize) -> usize {
    let line = text[at..].lines().next().unwrap_or_default();
    let rest = line.trim();
    let closes = rest.find("*/").is_some_and(|end| end + 2 == rest.len());
    let is_comment = rest.starts_with("//") || (rest.starts_with("/*") && closes);
    if is_comment { at + line.len() } else { at }
}
