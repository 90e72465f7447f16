//! Reads the type that the text names for a value.
//!
//! The text names it in the declaration, in the constructor, or as the return type of a function.

use std::borrow::Cow;

use memod_base::types::last_part;
use tree_sitter::Node;

/// Deepest nesting of a type or value that is read.
const MAX_DEPTH: usize = 6;

/// Generic types that are read as the type that they hold: pointers with the methods of that type, and wrappers of absent or
/// later values.
const HOLDERS: [&str; 5] = ["Arc", "Box", "Optional", "Promise", "Rc"];

/// Types of Rust whose value must be unwrapped before use.
const WRAPPERS: [&str; 2] = ["Option", "Result"];

/// Types that mean any value, and the word of Java for the type of what a variable is set to.
const ANY: [&str; 6] = ["Any", "Object", "any", "object", "unknown", "var"];

/// A declaration that may name a type: kind of node, field of the names, field of the type, field of the value. If the field
/// of the names is empty, the first child is the name; if another field is empty, the node has no such field.
pub(super) type ValueDeclaration = (&'static str, &'static str, &'static str, &'static str);

/// A type that the text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedType<'a> {
    name: &'a str,
    /// Whether the type is in an `Option` or a `Result`.
    is_wrapped: bool,
}

impl<'a> NamedType<'a> {
    /// Returns the name, with `?` at its end if the type is wrapped.
    pub(super) fn to_marked_name(self) -> Cow<'a, str> {
        let name = match self.name.contains("::") {
            true => Cow::Owned(self.name.replace("::", ".")),
            false => Cow::Borrowed(self.name),
        };
        if self.is_wrapped { Cow::Owned(format!("{name}?")) } else { name }
    }
}

/// Returns the type that a declaration names, as the type of the value or as the constructor called.
pub(super) fn declared_type<'a>(
    node: Node<'_>,
    declaration: ValueDeclaration,
    text: &'a str,
) -> Option<NamedType<'a>> {
    let (_, _, type_field, value_field) = declaration;
    if node.kind() == "catch_formal_parameter" {
        let mut cursor = node.walk();
        let caught = node.named_children(&mut cursor).find(|child| child.kind() == "catch_type")?;
        return named_type(caught.named_child(0).filter(|_| caught.named_child_count() == 1)?, text);
    }
    let of_type = node.child_by_field_name(type_field).and_then(|written| named_type(written, text));
    of_type.or_else(|| created_type(node.child_by_field_name(value_field)?, text, MAX_DEPTH))
}

/// Returns the type that a node names; `None` if the node names no single type.
pub(super) fn named_type<'a>(node: Node<'_>, text: &'a str) -> Option<NamedType<'a>> {
    type_name(node, text, MAX_DEPTH)
}

/// Returns the names of the types of a union, joined by `|`: of `A | B`, or of `Union[A, B]` in Python; `None` if a part is no single
/// name, or for one type.
pub(super) fn union_types(node: Node<'_>, text: &str) -> Option<String> {
    let mut parts = Vec::new();
    add_union_parts(node, text, MAX_DEPTH, &mut parts)?;
    (parts.len() > 1).then(|| parts.join("|"))
}

fn add_union_parts<'a>(node: Node<'_>, text: &'a str, depth: usize, parts: &mut Vec<&'a str>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut cursor = node.walk();
    match node.kind() {
        "type" | "type_annotation" | "parenthesized_type" if node.named_child_count() == 1 => {
            add_union_parts(node.named_child(0)?, text, depth, parts)
        }
        "none" => Some(()),
        "union_type" => {
            node.named_children(&mut cursor).try_for_each(|part| add_union_parts(part, text, depth, parts))
        }
        "binary_operator" if field_source(node, "operator", text) == Some("|") => {
            node.named_children(&mut cursor).try_for_each(|part| add_union_parts(part, text, depth, parts))
        }
        "subscript" if is_union(field_source(node, "value", text)?) => node
            .children_by_field_name("subscript", &mut cursor)
            .try_for_each(|part| add_union_parts(part, text, depth, parts)),
        // In a type, the grammar of Python reads `Union[A, B]` so.
        "generic_type" if is_union(text.get(node.named_child(0)?.byte_range())?) => node
            .named_child(1)?
            .named_children(&mut cursor)
            .try_for_each(|part| add_union_parts(part, text, depth, parts)),
        "predefined_type" | "literal_type" => None,
        _ => {
            let found = type_name(node, text, depth)?;
            parts.push(found.name);
            Some(())
        }
    }
}

fn is_union(name: &str) -> bool {
    matches!(last_part(name), "Union" | "Optional")
}

fn field_source<'a>(node: Node<'_>, field: &str, text: &'a str) -> Option<&'a str> {
    text.get(node.child_by_field_name(field)?.byte_range())
}

fn type_name<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let depth = depth.checked_sub(1)?;
    match node.kind() {
        "type_identifier" | "identifier" => {
            let name = text.get(node.byte_range()).filter(|name| !ANY.contains(name))?;
            Some(NamedType { name, is_wrapped: false })
        }
        "reference_type" | "pointer_type" => {
            field_type(node, "type", text, depth).or_else(|| last_child_type(node, text, depth))
        }
        "type" | "type_annotation" | "parenthesized_type" => last_child_type(node, text, depth),
        // The first result of a Go function.
        "parameter_list" => type_name(node.named_child(0)?, text, depth),
        "parameter_declaration" => field_type(node, "type", text, depth),
        "dynamic_type" | "abstract_type" => field_type(node, "trait", text, depth),
        "scoped_type_identifier" | "qualified_identifier" => {
            let own = field_type(node, "name", text, depth).or_else(|| last_child_type(node, text, depth))?;
            Some(NamedType { name: qualified_name(node, own.name, text).unwrap_or(own.name), ..own })
        }
        // In Go, Python and TypeScript, `http.Server` may be another type than `Server`.
        "qualified_type" | "attribute" | "nested_type_identifier" => {
            let name = text.get(node.byte_range()).filter(|name| !ANY.contains(&last_part(name)))?;
            Some(NamedType { name, is_wrapped: false })
        }
        "subscript" => {
            let own = field_type(node, "value", text, depth)?;
            let is_holder = HOLDERS.contains(&last_part(own.name));
            if is_holder { field_type(node, "subscript", text, depth) } else { Some(own) }
        }
        // A type of Python that is declared later: `"Flask"`.
        "string" => {
            let content = node.named_child(1).filter(|content| content.kind() == "string_content")?;
            let name = text.get(content.byte_range())?;
            let is_path = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
            is_path.then_some(NamedType { name, is_wrapped: false })
        }
        "struct_specifier" => field_type(node, "name", text, depth),
        "generic_type" | "template_type" => generic_type(node, text, depth),
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

/// Returns the path that ends with the name `own` in a node: `a::Order` of `a::Order<T>`; `None` if it has more than names.
fn qualified_name<'a>(node: Node<'_>, own: &'a str, text: &'a str) -> Option<&'a str> {
    let end = (own.as_ptr() as usize).checked_sub(text.as_ptr() as usize)? + own.len();
    let path = text.get(node.start_byte()..end)?;
    let is_path = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.'));
    is_path.then(|| path.trim_start_matches(':')).filter(|path| !path.is_empty())
}

fn generic_type<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let own = field_type(node, "type", text, depth).or_else(|| field_type(node, "name", text, depth));
    let own = own.or_else(|| type_name(node.named_child(0)?, text, depth))?;
    let is_of_rust = node.child_by_field_name("type").is_some();
    match own.name {
        name if HOLDERS.contains(&last_part(name)) => first_type_argument(node, text, depth),
        name if WRAPPERS.contains(&last_part(name)) && is_of_rust => {
            Some(NamedType { is_wrapped: true, ..first_type_argument(node, text, depth)? })
        }
        _ => Some(own),
    }
}

/// Returns the type in a field of a node.
fn field_type<'a>(node: Node<'_>, field: &str, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    type_name(node.child_by_field_name(field)?, text, depth)
}

/// Returns the first type argument of a generic type.
fn first_type_argument<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let arguments = node.child_by_field_name("type_arguments").or_else(|| node.named_child(1))?;
    type_name(arguments.named_child(0)?, text, depth)
}

fn last_child_type<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    type_name(node.named_child(node.named_child_count().checked_sub(1)? as u32)?, text, depth)
}

/// Returns the type of a value that a constructor creates.
fn created_type<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let depth = depth.checked_sub(1)?;
    match node.kind() {
        "call" => field_type(node, "function", text, depth)
            .filter(|made| last_part(made.name).starts_with(char::is_uppercase)),
        "new_expression" => field_type(node, "constructor", text, depth),
        "object_creation_expression" | "composite_literal" => field_type(node, "type", text, depth),
        "struct_expression" => field_type(node, "name", text, depth),
        "expression_list" if node.named_child_count() != 1 => None,
        "unary_expression"
        | "reference_expression"
        | "expression_list"
        | "await_expression"
        | "parenthesized_expression" => created_type(node.named_child(0)?, text, depth),
        _ => None,
    }
}
