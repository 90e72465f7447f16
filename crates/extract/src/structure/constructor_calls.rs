//! Finds the type whose constructor `this(1)`, `super(1)` or a constant of an enum calls in Java.

use tree_sitter::Node;

/// Kinds of statements and constants that call a constructor.
pub(super) const CALL_KINDS: [&str; 2] = ["explicit_constructor_invocation", "enum_constant"];

/// Kinds of declarations of types that have constructors.
const TYPES: [&str; 3] = ["class_declaration", "enum_declaration", "record_declaration"];

/// Returns the node with the name of the type whose constructor is called, and the node at which the call is recorded; `None`
/// if the type is not known. `around` has the nodes around the call, outermost first.
pub(super) fn constructed_type<'t>(
    call: Node<'t>,
    around: impl DoubleEndedIterator<Item = Node<'t>>,
) -> Option<(Node<'t>, Node<'t>)> {
    // An enum constant without arguments does not call a constructor explicitly.
    let arguments = call.child_by_field_name("arguments")?;
    let own = around.rev().find(|node| TYPES.contains(&node.kind()))?;
    let Some(constructor) = call.child_by_field_name("constructor") else {
        return Some((own.child_by_field_name("name")?, arguments));
    };
    let type_node = match constructor.kind() {
        "super" => last_name(own.child_by_field_name("superclass")?)?,
        _ => own.child_by_field_name("name")?,
    };
    Some((type_node, constructor))
}

/// Returns the node of the own name in `extends a.Base<T>`: `Base`.
fn last_name(superclass: Node<'_>) -> Option<Node<'_>> {
    let mut type_node = superclass.named_child(0)?;
    if type_node.kind() == "generic_type" {
        type_node = type_node.named_child(0)?;
    }
    if type_node.kind() == "scoped_type_identifier" {
        type_node = type_node.named_child(type_node.named_child_count().checked_sub(1)? as u32)?;
    }
    (type_node.kind() == "type_identifier").then_some(type_node)
}
