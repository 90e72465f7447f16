//! Reads which type the text names for a value: in its declaration, where the value is made, or as what a function returns.

use std::borrow::Cow;

use memod_base::types::own_part;
use tree_sitter::Node;

/// Deepest nesting of a type or value that is looked into.
const MAX_DEPTH: usize = 6;

/// Types that have the methods of what they hold, or are written for what may be absent or late.
const HOLDERS: [&str; 5] = ["Arc", "Box", "Optional", "Promise", "Rc"];

/// Types of Rust whose value is taken out before it is used.
const WRAPPERS: [&str; 2] = ["Option", "Result"];

/// Types that say nothing of a value.
const ANY: [&str; 5] = ["Any", "Object", "any", "object", "unknown"];

/// A declaration that may name a type: kind of node, field of the names, field of the type and of the value; an empty field
/// of the names is the first child, an empty other one is none.
pub(super) type Declaration = (&'static str, &'static str, &'static str, &'static str);

/// A type that the text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    name: &'a str,
    /// Whether it is in an `Option` or a `Result`.
    is_wrapped: bool,
}

impl<'a> Named<'a> {
    /// Returns its name, with `?` if it is wrapped.
    pub(super) fn written(self) -> Cow<'a, str> {
        if self.is_wrapped { Cow::Owned(format!("{}?", self.name)) } else { Cow::Borrowed(self.name) }
    }
}

/// Returns the type that a declaration names.
pub(super) fn of<'a>(node: Node<'_>, declaration: Declaration, text: &'a str) -> Option<Named<'a>> {
    let (_, _, type_field, value_field) = declaration;
    let of_type = node.child_by_field_name(type_field).and_then(|written| named(written, text));
    of_type.or_else(|| made(node.child_by_field_name(value_field)?, text, MAX_DEPTH))
}

/// Returns the type that a node writes; `None` for those that are no single type.
pub(super) fn named<'a>(node: Node<'_>, text: &'a str) -> Option<Named<'a>> {
    type_name(node, text, MAX_DEPTH)
}

fn type_name<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<Named<'a>> {
    let depth = depth.checked_sub(1)?;
    let inner = |field: &str| type_name(node.child_by_field_name(field)?, text, depth);
    match node.kind() {
        "type_identifier" | "identifier" => {
            let name = text.get(node.byte_range()).filter(|name| !ANY.contains(name))?;
            Some(Named { name, is_wrapped: false })
        }
        "reference_type" | "pointer_type" => inner("type").or_else(|| last_child(node, text, depth)),
        "type" | "type_annotation" | "parenthesized_type" => last_child(node, text, depth),
        // The first of what a function of Go returns.
        "parameter_list" => type_name(node.named_child(0)?, text, depth),
        "parameter_declaration" => inner("type"),
        "dynamic_type" | "abstract_type" => inner("trait"),
        "scoped_type_identifier" | "nested_type_identifier" | "qualified_identifier" => {
            inner("name").or_else(|| last_child(node, text, depth))
        }
        // `http.Server` of Go and Python may be another type than `Server`.
        "qualified_type" | "attribute" => {
            let name = text.get(node.byte_range()).filter(|name| !ANY.contains(&own_part(name)))?;
            Some(Named { name, is_wrapped: false })
        }
        "struct_specifier" => inner("name"),
        "generic_type" | "template_type" => generic(node, text, depth),
        "union_type" | "binary_operator" => {
            let mut cursor = node.walk();
            let parts = node.named_children(&mut cursor);
            let mut types = parts.filter_map(|part| type_name(part, text, depth));
            let first = types.next();
            first.filter(|_| types.next().is_none())
        }
        _ => None,
    }
}

fn generic<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<Named<'a>> {
    let inner = |field: &str| type_name(node.child_by_field_name(field)?, text, depth);
    let own = inner("type").or_else(|| inner("name"));
    let own = own.or_else(|| type_name(node.named_child(0)?, text, depth))?;
    let arguments = || node.child_by_field_name("type_arguments").or_else(|| node.named_child(1));
    let held = || type_name(arguments()?.named_child(0)?, text, depth);
    let is_of_rust = node.child_by_field_name("type").is_some();
    match own.name {
        name if HOLDERS.contains(&own_part(name)) => held(),
        name if WRAPPERS.contains(&name) && is_of_rust => Some(Named { is_wrapped: true, ..held()? }),
        _ => Some(own),
    }
}

fn last_child<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<Named<'a>> {
    type_name(node.named_child(node.named_child_count().checked_sub(1)? as u32)?, text, depth)
}

/// Returns the type of a value by how it is made.
fn made<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<Named<'a>> {
    let depth = depth.checked_sub(1)?;
    let written = |field: &str| type_name(node.child_by_field_name(field)?, text, depth);
    match node.kind() {
        "call" => written("function").filter(|made| own_part(made.name).starts_with(char::is_uppercase)),
        "new_expression" => written("constructor"),
        "object_creation_expression" | "composite_literal" => written("type"),
        "struct_expression" => written("name"),
        "expression_list" if node.named_child_count() != 1 => None,
        "unary_expression"
        | "reference_expression"
        | "expression_list"
        | "await_expression"
        | "parenthesized_expression" => made(node.named_child(0)?, text, depth),
        _ => None,
    }
}
