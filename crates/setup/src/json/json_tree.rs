//! Parses JSON with comments into a tree that records the byte range of each value.

use std::ops::Range;

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::config_value::ConfigValue;
use crate::Refusal;

/// A value and its byte range.
#[derive(Debug)]
pub(crate) struct JsonNode {
    /// Byte range of the value, including brackets or quotes.
    pub(crate) range: Range<usize>,
    /// The value.
    pub(crate) kind: JsonKind,
}

/// The kinds of values.
#[derive(Debug)]
pub(crate) enum JsonKind {
    /// An object. Of several members with one name, the last counts, as in `JSON.parse`.
    Object(Vec<JsonItem>),
    /// An array.
    Array(Vec<JsonItem>),
    /// A string, unescaped.
    Text(String),
    /// A number, `true`, `false` or `null`, as written.
    Literal(String),
}

/// A member of an object, or an element of an array.
#[derive(Debug)]
pub(crate) struct JsonItem {
    /// The key; empty in an array.
    pub(crate) key: String,
    /// Byte range of key and value.
    pub(crate) range: Range<usize>,
    /// Byte offset of the end of the key; in an array, of the start of the value.
    pub(crate) key_end: usize,
    /// The value.
    pub(crate) node: JsonNode,
}

impl JsonNode {
    /// Parses a text; `None` if the text has no value.
    ///
    /// # Errors
    /// When the text does not parse; the error names line and column.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&text[bom..], &CollectOptions::default(), &options);
        let parsed = parsed.map_err(|error| Refusal::Json(error.to_string()))?;
        Ok(parsed.value.map(|value| build_node(&value, bom)))
    }

    /// Returns the items of an object or an array; none for another value.
    pub(crate) fn items(&self) -> &[JsonItem] {
        match &self.kind {
            JsonKind::Object(items) | JsonKind::Array(items) => items,
            JsonKind::Text(_) | JsonKind::Literal(_) => &[],
        }
    }

    /// Returns whether the value is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, JsonKind::Object(_))
    }

    /// Returns whether the value is an array.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self.kind, JsonKind::Array(_))
    }

    /// Returns the value of a member; `None` if there is none, or the value is not an object.
    pub(crate) fn get(&self, key: &str) -> Option<&JsonNode> {
        if !self.is_object() {
            return None;
        }
        self.items().iter().rev().find(|item| item.key == key).map(|item| &item.node)
    }

    /// Returns the value to which a path of keys leads.
    pub(crate) fn get_path(&self, path: &[&str]) -> Option<&JsonNode> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the text of a string; `None` for another value.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            JsonKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the node equals `value`. Objects of the node may have more members than those of `value`.
    pub(crate) fn contains_value(&self, value: &ConfigValue) -> bool {
        match (value, &self.kind) {
            (ConfigValue::Text(text), JsonKind::Text(own)) => text == own,
            (ConfigValue::Number(number), JsonKind::Literal(own)) => *own == number.to_string(),
            (ConfigValue::Flag(flag), JsonKind::Literal(own)) => *own == flag.to_string(),
            (ConfigValue::List(items), JsonKind::Array(own)) => {
                items.len() == own.len()
                    && items.iter().zip(own).all(|(item, own)| own.node.contains_value(item))
            }
            (ConfigValue::Map(members), JsonKind::Object(_)) => {
                members.iter().all(|(key, value)| self.get(key).is_some_and(|own| own.contains_value(value)))
            }
            _ => false,
        }
    }
}

/// Converts a parsed value into a node; `bom` is the length of the byte order mark before the parsed text.
fn build_node(value: &Value<'_>, bom: usize) -> JsonNode {
    let kind = match value {
        Value::Object(object) => {
            let members = object.properties.iter().map(|member| {
                let key = match &member.name {
                    ObjectPropName::String(name) => name.value.clone().into_owned(),
                    ObjectPropName::Word(name) => name.value.to_owned(),
                };
                let key_end = member.name.end() + bom;
                JsonItem {
                    key,
                    range: shift_range(member.range, bom),
                    key_end,
                    node: build_node(&member.value, bom),
                }
            });
            JsonKind::Object(members.collect())
        }
        Value::Array(array) => {
            let elements = array.elements.iter().map(|element| JsonItem {
                key: String::new(),
                range: shift_range(element.range(), bom),
                key_end: element.start() + bom,
                node: build_node(element, bom),
            });
            JsonKind::Array(elements.collect())
        }
        Value::StringLit(text) => JsonKind::Text(text.value.clone().into_owned()),
        Value::NumberLit(number) => JsonKind::Literal(number.value.to_owned()),
        Value::BooleanLit(flag) => JsonKind::Literal(flag.value.to_string()),
        Value::NullKeyword(_) => JsonKind::Literal("null".to_owned()),
    };
    JsonNode { range: shift_range(value.range(), bom), kind }
}

/// Converts a range in the parsed text into one in the text with its byte order mark.
fn shift_range(range: jsonc_parser::common::Range, bom: usize) -> Range<usize> {
    range.start + bom..range.end + bom
}
