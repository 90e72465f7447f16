//! Decides whether an entry of ours must be inserted into a JSON text or updated in it.

use super::config_value::{ConfigValue, JsonLayout, quote_json};
use super::json_insert::{InsertedPiece, piece_for_item, piece_for_member};
use super::json_part::{JsonPart, find_part};
use super::json_tree::JsonNode;
use super::our_command::{OurCommand, merge_command_line};
use crate::Refusal;

/// The edit that brings an entry into a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JsonEdit {
    /// None: the text already has the entry.
    Nothing,
    /// Insert this piece.
    Insert(InsertedPiece),
    /// Replace the whole text by this one, in which our entry has its new values.
    Update(String),
}

/// Returns the edit that brings an entry into a text.
///
/// # Errors
/// When the text does not parse, a value on the path has another type, or somebody else wrote an entry of our name.
pub(crate) fn plan_edit(text: &str, part: &JsonPart) -> Result<JsonEdit, Refusal> {
    let root = JsonNode::parse(text)?;
    let root = root.as_ref();
    if root.is_some_and(|root| !root.is_object()) {
        return Err(Refusal::WrongType { path: "the top level".to_owned(), expected: "an object" });
    }
    let insert = |path: &[&str], value| piece_for_member(text, root, path, value).map(JsonEdit::Insert);
    match part {
        JsonPart::Server { path, key, value } => {
            let path = [path, [*key].as_slice()].concat();
            match root.and_then(|root| root.get_path(&path)) {
                Some(own) => update_server(text, own, &path, value),
                None => insert(&path, value),
            }
        }
        JsonPart::Hook { path, value, command } => {
            let own = root.and_then(|root| find_part(root, part)).and_then(|chain| chain.last().copied());
            if let Some((list, index)) = own {
                return Ok(update_hook(text, &list.items()[index].node, command, value));
            }
            match root.and_then(|root| root.get_path(path)) {
                Some(array) if array.is_array() => {
                    Ok(JsonEdit::Insert(piece_for_item(text, array, path, |layout| value.render(layout))))
                }
                Some(_) => Err(Refusal::WrongType { path: path.join("."), expected: "an array" }),
                None => insert(path, &ConfigValue::List(vec![value.clone()])),
            }
        }
        JsonPart::RequiredMember { key, .. } if root.is_some_and(|root| root.get(key).is_some()) => {
            Ok(JsonEdit::Nothing)
        }
        JsonPart::RequiredMember { key, value } => insert(&[key], value),
    }
}

/// Returns the edit that writes our values into our server entry `own`; other members of the entry stay.
///
/// # Errors
/// When somebody else wrote the entry.
fn update_server(
    text: &str,
    own: &JsonNode,
    path: &[&str],
    value: &ConfigValue,
) -> Result<JsonEdit, Refusal> {
    if own.contains_value(value) {
        return Ok(JsonEdit::Nothing);
    }
    if !OurCommand::Server.is_run_by(own) {
        return Err(Refusal::NameTaken(path.last().copied().unwrap_or_default().to_owned()));
    }
    let ConfigValue::Map(members) = value else { return Ok(JsonEdit::Nothing) };
    let mut merged = text.to_owned();
    for (name, wanted) in members {
        let path = [path, [name.as_str()].as_slice()].concat();
        let root = JsonNode::parse(&merged)?;
        match root.as_ref().and_then(|root| root.get_path(&path)) {
            Some(own) if own.contains_value(wanted) => {}
            Some(own) => replace_value(&mut merged, own, wanted),
            None => {
                let piece = piece_for_member(&merged, root.as_ref(), &path, wanted)?;
                merged.insert_str(piece.at, &piece.text);
            }
        }
    }
    // Nothing is changed if the entry only has more arguments than ours.
    Ok(if merged == text { JsonEdit::Nothing } else { JsonEdit::Update(merged) })
}

/// Returns the edit that writes the current command line into our hook entry `own`.
fn update_hook(text: &str, own: &JsonNode, command: &OurCommand, value: &ConfigValue) -> JsonEdit {
    let Some((key, own)) = command.find_command_line(own) else { return JsonEdit::Nothing };
    let Some(wanted) = find_string_member(value, key) else { return JsonEdit::Nothing };
    let line = own.as_text().unwrap_or_default();
    let wanted = merge_command_line(line, wanted);
    if line == wanted {
        return JsonEdit::Nothing;
    }
    let (before, after) = (&text[..own.range.start], &text[own.range.end..]);
    JsonEdit::Update([before, &quote_json(&wanted), after].concat())
}

/// Replaces the value `own` in the text by `wanted`. Items that somebody has added to the end of a list stay.
fn replace_value(text: &mut String, own: &JsonNode, wanted: &ConfigValue) {
    let ConfigValue::List(items) = wanted else {
        return text.replace_range(own.range.clone(), &wanted.render(JsonLayout::Compact));
    };
    if !own.is_array() || own.items().len() < items.len() {
        return text.replace_range(own.range.clone(), &wanted.render(JsonLayout::Compact));
    }
    // From the end, so that the byte ranges of earlier items stay valid.
    for (item, own) in items.iter().zip(own.items()).rev() {
        if !own.node.contains_value(item) {
            text.replace_range(own.range.clone(), &item.render(JsonLayout::Compact));
        }
    }
}

/// Returns the string value of the first member with this key, at any depth.
fn find_string_member<'a>(value: &'a ConfigValue, key: &str) -> Option<&'a str> {
    match value {
        ConfigValue::Map(members) => members.iter().find_map(|(name, value)| match value {
            ConfigValue::Text(text) if name == key => Some(text.as_str()),
            value => find_string_member(value, key),
        }),
        ConfigValue::List(items) => items.iter().find_map(|item| find_string_member(item, key)),
        _ => None,
    }
}
