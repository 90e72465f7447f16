//! Reads which type the text names for a value: in its declaration, or where the value is made.

use tree_sitter::Node;

/// Deepest nesting of a type or value that is looked into.
const MAX_DEPTH: usize = 6;

/// Types of Rust that have the methods of what they hold.
const HOLDERS: [&str; 3] = ["Arc", "Box", "Rc"];

/// Types that say nothing of a value.
const ANY: [&str; 5] = ["Any", "Object", "any", "object", "unknown"];

/// A declaration that may name a type: kind of node, field of the names, field of the type and of the value; an empty field
/// of the names is the first child, an empty other one is none.
pub(super) type Declaration = (&'static str, &'static str, &'static str, &'static str);

/// A type that the text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    /// Whether it is written; else the value is what a function of the type returns, which may be another one.
    pub(super) is_written: bool,
}

/// Returns the type that a declaration names.
pub(super) fn of<'a>(node: Node<'_>, declaration: Declaration, text: &'a str) -> Option<Named<'a>> {
    let (_, _, type_field, value_field) = declaration;
    let of_type =
        node.child_by_field_name(type_field).and_then(|written| type_name(written, text, MAX_DEPTH));
    let of_value = || made(node.child_by_field_name(value_field)?, text, MAX_DEPTH);
    of_type.map(|name| Named { name, is_written: true }).or_else(of_value)
}

/// Returns the own name of the type that a node writes; `None` for those that are no single type.
fn type_name<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<&'a str> {
    let depth = depth.checked_sub(1)?;
    let inner = |field: &str| type_name(node.child_by_field_name(field)?, text, depth);
    match node.kind() {
        "type_identifier" | "identifier" => text.get(node.byte_range()).filter(|name| !ANY.contains(name)),
        "reference_type" | "pointer_type" => inner("type").or_else(|| last_child(node, text, depth)),
        "type" | "type_annotation" | "parenthesized_type" => last_child(node, text, depth),
        "dynamic_type" | "abstract_type" => inner("trait"),
        "scoped_type_identifier" | "qualified_type" | "nested_type_identifier" | "qualified_identifier" => {
            inner("name").or_else(|| last_child(node, text, depth))
        }
        "attribute" => inner("attribute"),
        "struct_specifier" => inner("name"),
        "generic_type" | "template_type" => {
            let own = inner("type").or_else(|| inner("name"));
            let own = own.or_else(|| type_name(node.named_child(0)?, text, depth))?;
            let held = || type_name(node.child_by_field_name("type_arguments")?.named_child(0)?, text, depth);
            if HOLDERS.contains(&own) { held() } else { Some(own) }
        }
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

fn last_child<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<&'a str> {
    type_name(node.named_child(node.named_child_count().checked_sub(1)? as u32)?, text, depth)
}

/// Returns the type of a value by how it is made.
fn made<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<Named<'a>> {
    let depth = depth.checked_sub(1)?;
    let written = |field: &str| {
        let name = type_name(node.child_by_field_name(field)?, text, depth)?;
        Some(Named { name, is_written: true })
    };
    match node.kind() {
        "call" => written("function").filter(|made| made.name.starts_with(char::is_uppercase)),
        "new_expression" => written("constructor"),
        "object_creation_expression" | "composite_literal" => written("type"),
        "struct_expression" => written("name"),
        "call_expression" => {
            let function =
                node.child_by_field_name("function").filter(|called| called.kind() == "scoped_identifier")?;
            let name = type_name(function.child_by_field_name("path")?, text, depth)?;
            name.starts_with(char::is_uppercase).then_some(Named { name, is_written: false })
        }
        "expression_list" if node.named_child_count() != 1 => None,
        "unary_expression"
        | "reference_expression"
        | "expression_list"
        | "try_expression"
        | "await_expression"
        | "parenthesized_expression" => made(node.named_child(0)?, text, depth),
        _ => None,
    }
}
