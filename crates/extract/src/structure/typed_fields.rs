//! Records the fields that patterns of JavaScript read and that literals of a known type set.
//!
//! `const { total } = cart` reads a field, `const cart: Cart = { total: 1 }` sets one.

use std::borrow::Cow;

use memod_base::types::UseRole;
use tree_sitter::Node;

use super::node_text::named_children;
use super::value_types;
use super::walker::{MAX_RECEIVER_PARTS, SHORTHAND_PATTERN, TreeWalker};
use super::{FoundReceiver, FoundUse, MAX_NAME_BYTES};

/// Generic types with the fields of their first argument.
const FIELD_KEEPING: [&str; 7] =
    ["Partial", "Required", "Readonly", "Pick", "Omit", "NonNullable", "DeepPartial"];
/// Most patterns in patterns, and most nodes between a literal and its type.
const MAX_DEPTH: usize = 8;
/// Most fields of one pattern.
const MAX_FIELDS: usize = 500;

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the fields that the pattern of a declaration, an assignment or a parameter reads.
    pub(super) fn add_pattern_fields(&mut self, node: Node<'t>) {
        let (pattern, value) = match node.kind() {
            "variable_declarator" => ("name", "value"),
            "assignment_expression" => ("left", "right"),
            "required_parameter" | "optional_parameter" => ("pattern", ""),
            _ => return,
        };
        let Some(pattern) = node.child_by_field_name(pattern).filter(|node| node.kind() == "object_pattern")
        else {
            return;
        };
        if self.imported_patterns.contains(&pattern.id()) {
            return;
        }
        let of_type = node.child_by_field_name("type").and_then(|written| self.value_of_type(written));
        let of_value = || self.expression_path(node.child_by_field_name(value)?, MAX_RECEIVER_PARTS);
        if let Some(path) = of_type.or_else(of_value) {
            self.add_fields_of_pattern(pattern, &path, MAX_DEPTH);
        }
    }

    /// Records the field that a string names: `order['total']`.
    pub(super) fn add_string_key(&mut self, node: Node<'t>) {
        let (Some(object), Some(key)) =
            (node.child_by_field_name("object"), node.child_by_field_name("index"))
        else {
            return;
        };
        let name = key.named_child(0).filter(|_| key.kind() == "string" && key.named_child_count() == 1);
        let is_name = |name: &Node<'_>| self.text_of(*name).chars().all(|c| c.is_alphanumeric() || c == '_');
        if let Some(name) = name.filter(is_name) {
            let receiver = self.find_receiver(object, "");
            self.add_field_use(name, receiver);
        }
    }

    pub(super) fn add_fields_of_pattern(&mut self, pattern: Node<'t>, path: &str, depth: usize) {
        for part in named_children(pattern).into_iter().take(MAX_FIELDS) {
            let part = match part.kind() {
                "object_assignment_pattern" => part.child_by_field_name("left"),
                _ => Some(part),
            };
            let Some(part) = part else { continue };
            match part.kind() {
                SHORTHAND_PATTERN => self.add_field(part, path),
                "pair_pattern" => {
                    let key =
                        part.child_by_field_name("key").filter(|key| key.kind() == "property_identifier");
                    let Some(key) = key else { continue };
                    self.add_field(key, path);
                    let inner =
                        part.child_by_field_name("value").filter(|value| value.kind() == "object_pattern");
                    if let (Some(inner), Some(depth)) = (inner, depth.checked_sub(1)) {
                        let path = format!("{path}.{}", self.text_of(key));
                        self.add_fields_of_pattern(inner, &path, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_field(&mut self, name: Node<'t>, path: &str) {
        let receiver = self.receiver_of_path(path.to_owned());
        self.add_field_use(name, receiver);
    }

    pub(super) fn add_field_use(&mut self, name: Node<'t>, receiver: FoundReceiver) {
        let text = self.text_of(name);
        if text.is_empty() || text.len() > MAX_NAME_BYTES {
            return;
        }
        self.found.uses.push(FoundUse {
            name: Cow::Borrowed(text),
            at: name.start_byte(),
            receiver,
            role: UseRole::Mention,
            n_arguments: None,
            is_value: true,
        });
    }

    /// Returns a value of the type of the literal that is `n_up` nodes above the current one, as a receiver: the type that is written for
    /// the variable or the result, or with `as` or `satisfies`.
    pub(super) fn receiver_of_literal(&self, n_up: usize) -> Option<FoundReceiver> {
        let mut at = self.path.len().checked_sub(n_up)?;
        let (literal, _) = self.path[at];
        if literal.kind() != "object" {
            return None;
        }
        let (mut inner, mut is_element) = (literal, false);
        for _ in 0..MAX_DEPTH {
            at = at.checked_sub(1)?;
            let around = self.path[at].0;
            let written = match around.kind() {
                "parenthesized_expression" => None,
                "array" if !is_element => {
                    is_element = true;
                    None
                }
                // `<Cart>{ total: 1 }`
                "type_assertion" => around.named_child(0).and_then(|list| list.named_child(0)),
                "as_expression" | "satisfies_expression" => {
                    // `as const` names no type.
                    named_children(around).pop().filter(|last| *last != inner)
                }
                "variable_declarator" | "public_field_definition" => {
                    Some(around.child_by_field_name("type")?)
                }
                "arrow_function" => Some(around.child_by_field_name("return_type")?),
                "return_statement" => Some(self.return_type_around(at)?),
                _ => return None,
            };
            if let Some(written) = written {
                let written = if is_element { element_type(written)? } else { written };
                return self.value_of_type(written).map(|path| self.receiver_of_path(path));
            }
            inner = around;
        }
        None
    }

    /// Returns the type that the innermost function around a node of the path returns.
    fn return_type_around(&self, at: usize) -> Option<Node<'t>> {
        let around = self.path[..at].iter().rev().map(|(node, _)| *node);
        let mut functions =
            around.filter(|node| node.kind().contains("function") || node.kind() == "method_definition");
        functions.next()?.child_by_field_name("return_type")
    }

    /// Returns a path for a value of a written type: `Cart()` for `Partial<Cart>`; `None` if it names no single type.
    pub(super) fn value_of_type(&self, written: Node<'_>) -> Option<String> {
        let mut written = strip_annotation(written);
        for _ in 0..MAX_DEPTH {
            let inner = type_argument_of(written, &FIELD_KEEPING, self.text);
            match inner {
                Some(inner) => written = inner,
                None => break,
            }
        }
        let named = value_types::named_type(written, self.text)?.to_own_name();
        (!named.ends_with('?')).then(|| format!("{named}()"))
    }
}

/// Returns the type in an annotation.
fn strip_annotation(written: Node<'_>) -> Node<'_> {
    if written.kind() == "type_annotation" { written.named_child(0).unwrap_or(written) } else { written }
}

/// Returns the type of the elements of a list: `Cart` of `Cart[]` and `Array<Cart>`.
fn element_type(written: Node<'_>) -> Option<Node<'_>> {
    let written = strip_annotation(written);
    match written.kind() {
        "array_type" => written.named_child(0),
        "readonly_type" => element_type(written.named_child(0)?),
        "generic_type" => written.child_by_field_name("type_arguments")?.named_child(0),
        _ => None,
    }
}

/// Returns the first argument of a generic type that is one of `names`.
fn type_argument_of<'t>(written: Node<'t>, names: &[&str], text: &str) -> Option<Node<'t>> {
    let name = written.child_by_field_name("name").filter(|_| written.kind() == "generic_type")?;
    let is_listed = names.contains(&text.get(name.byte_range()).unwrap_or_default());
    written.child_by_field_name("type_arguments").filter(|_| is_listed)?.named_child(0)
}
