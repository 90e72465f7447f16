//! Reads the type that the text names for a value.
//!
//! The text names it in the declaration, in the constructor, or as the return type of a function.

use std::borrow::Cow;

use memod_base::types::last_part;
use tree_sitter::Node;

use super::node_text::named_children;

/// Deepest nesting of a type or value that is read.
const MAX_DEPTH: usize = 6;

/// Generic types that are read as the type that they hold: pointers with the methods of that type, guards, wrappers of absent or later
/// values, and types with the same members.
const HOLDERS: [&str; 36] = [
    "Annotated",
    "Arc",
    "Awaitable",
    "Awaited",
    "Box",
    "ClassVar",
    "Cow",
    "DeepPartial",
    "DeepReadonly",
    "Final",
    "LazyLock",
    "ManuallyDrop",
    "MutexGuard",
    "NonNullable",
    "NotRequired",
    "Omit",
    "Optional",
    "Partial",
    "Pick",
    "Pin",
    "Promise",
    "PromiseLike",
    "Rc",
    "ReadOnly",
    "Readonly",
    "RefMut",
    "Required",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Type",
    "optional",
    "reference_wrapper",
    "shared_ptr",
    "type",
    "unique_ptr",
    "weak_ptr",
];
/// Generic types whose first argument is the type of their elements, and not the last.
const OF_FIRST: [&str; 6] = ["AsyncGenerator", "Generator", "array", "list", "set", "vector"];

/// Types of Rust whose value must be unwrapped before use.
const WRAPPERS: [&str; 2] = ["Option", "Result"];

/// Types that mean any value, and the word of Java for the type of what a variable is set to.
const ANY: [&str; 6] = ["Any", "Object", "any", "object", "unknown", "var"];

/// A declaration that may name a type: kind of node, field of the names, field of the type, field of the value. If the field
/// of the names is empty, the first child is the name; if another field is empty, the node has no such field.
pub(super) type ValueDeclaration = (&'static str, &'static str, &'static str, &'static str);

/// A type that the text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedType<'a> {
    name: &'a str,
    /// Whether the type is in an `Option` or a `Result`.
    is_wrapped: bool,
    /// The type of its elements as [`NamedType::to_marked_name`] writes it.
    element: Option<String>,
}

impl<'a> NamedType<'a> {
    fn without_elements(name: &'a str) -> Self {
        Self { name, is_wrapped: false, element: None }
    }

    fn list_of(element: &Self) -> Self {
        Self { element: Some(element.to_marked_name().into_owned()), ..Self::without_elements("[]") }
    }

    /// Returns the name, followed by `?` if the type is wrapped, and by `<` and the type of its elements if it has any.
    pub(super) fn to_marked_name(&self) -> Cow<'a, str> {
        let name = match self.name.contains("::") {
            true => Cow::Owned(self.name.replace("::", ".")),
            false => Cow::Borrowed(self.name),
        };
        let mark = if self.is_wrapped { "?" } else { "" };
        match &self.element {
            Some(element) => Cow::Owned(format!("{name}{mark}<{element}")),
            None if self.is_wrapped => Cow::Owned(format!("{name}?")),
            None => name,
        }
    }

    /// Returns the own name, with `?` at its end if the type is wrapped.
    pub(super) fn to_own_name(&self) -> Cow<'a, str> {
        Self { element: None, ..self.clone() }.to_marked_name()
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
            let name = text.get(node.byte_range()).filter(|name| !ANY.contains(name) && *name != "var")?;
            Some(NamedType::without_elements(name))
        }
        "type_descriptor" => field_type(node, "type", text, depth),
        // `Order[]` of TypeScript and Java, `[]Order` of Go, `[Order]` of Rust.
        "array_type" | "slice_type" => {
            let element = node.child_by_field_name("element").or_else(|| node.named_child(0))?;
            Some(NamedType::list_of(&type_name(element, text, depth)?))
        }
        "readonly_type" => last_child_type(node, text, depth),
        "map_type" => Some(NamedType::list_of(&field_type(node, "value", text, depth)?)),
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
            Some(NamedType::without_elements(name))
        }
        "subscript" => {
            let own = field_type(node, "value", text, depth)?;
            let mut cursor = node.walk();
            let arguments: Vec<Node<'_>> = node.children_by_field_name("subscript", &mut cursor).collect();
            with_arguments(&own, &arguments, text, depth)
        }
        // A type of Python that is declared later: `"Flask"`.
        "string" => {
            let content = node.named_child(1).filter(|content| content.kind() == "string_content")?;
            let mut parts =
                text.get(content.byte_range())?.split('|').map(str::trim).filter(|part| *part != "None");
            let name = parts.next().filter(|_| parts.next().is_none())?;
            let is_path = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
            is_path.then_some(NamedType::without_elements(name))
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
    let list = node.child_by_field_name("type_arguments").or_else(|| node.named_child(1))?;
    let arguments: Vec<Node<'_>> =
        named_children(list).into_iter().filter(|part| part.kind() != "lifetime").collect();
    if WRAPPERS.contains(&last_part(own.name)) && is_of_rust {
        let inner = first_type(&arguments, text, depth)?;
        return Some(NamedType { is_wrapped: true, ..inner });
    }
    with_arguments(&own, &arguments, text, depth)
}

/// Returns a generic type with its arguments, or the type that it holds.
fn with_arguments<'a>(
    own: &NamedType<'a>,
    arguments: &[Node<'_>],
    text: &'a str,
    depth: usize,
) -> Option<NamedType<'a>> {
    let name = last_part(own.name);
    if HOLDERS.contains(&name) {
        return first_type(arguments, text, depth);
    }
    let element = if OF_FIRST.contains(&name) { arguments.first() } else { arguments.last() };
    let element = element.and_then(|element| type_name(*element, text, depth));
    let element = element.map(|element| element.to_marked_name().into_owned());
    Some(NamedType { name: own.name, is_wrapped: own.is_wrapped, element })
}

fn first_type<'a>(arguments: &[Node<'_>], text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    type_name(*arguments.first()?, text, depth)
}

/// Returns the type in a field of a node.
fn field_type<'a>(node: Node<'_>, field: &str, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    type_name(node.child_by_field_name(field)?, text, depth)
}

fn last_child_type<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    type_name(node.named_child(node.named_child_count().checked_sub(1)? as u32)?, text, depth)
}

/// Returns the type of a value that a constructor creates.
fn created_type<'a>(node: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let depth = depth.checked_sub(1)?;
    match node.kind() {
        // `x = None if c else Order()`, `x = a or Order()`
        "conditional_expression" | "boolean_operator" | "ternary_expression" => {
            let parts = named_children(node).into_iter();
            let mut made = parts.filter_map(|part| created_type(part, text, depth));
            made.next().filter(|first| made.all(|other| other.name == first.name))
        }
        "cast_expression" | "compound_literal_expression" => field_type(node, "type", text, depth),
        "call_expression" => constructed_by_call(node, text, depth),
        "call" => field_type(node, "function", text, depth)
            .filter(|made| last_part(made.name).starts_with(char::is_uppercase)),
        "new_expression" => {
            field_type(node, "constructor", text, depth).or_else(|| field_type(node, "type", text, depth))
        }
        "object_creation_expression" | "composite_literal" => field_type(node, "type", text, depth),
        "struct_expression" => field_type(node, "name", text, depth),
        "assignment_expression" => created_type(node.child_by_field_name("right")?, text, depth),
        "expression_list" if node.named_child_count() != 1 => None,
        "unary_expression"
        | "reference_expression"
        | "expression_list"
        | "await_expression"
        | "parenthesized_expression" => created_type(node.named_child(0)?, text, depth),
        _ => None,
    }
}

/// Returns the type of a value that a function of C++ makes, by its type argument: `std::make_unique<Order>()`,
/// `static_cast<Order *>(value)`.
fn constructed_by_call<'a>(call: Node<'_>, text: &'a str, depth: usize) -> Option<NamedType<'a>> {
    let mut function = call.child_by_field_name("function")?;
    if function.kind() == "qualified_identifier" {
        function = function.child_by_field_name("name")?;
    }
    let name = text.get(function.child_by_field_name("name")?.byte_range())?;
    let is_maker = name.starts_with("make_") || name.ends_with("_cast");
    let arguments = function.child_by_field_name("arguments").filter(|_| is_maker)?;
    first_type(&named_children(arguments), text, depth)
}
