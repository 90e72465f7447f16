//! Counts the parameters of functions and the arguments of calls, in languages whose compilers compare them.

use memod_base::types::Arity;
use tree_sitter::Node;

/// Kinds of children of a parameter list that are no parameters, such as the receiver of a method.
const NOT_PARAMETERS: [&str; 2] = ["receiver_parameter", "modifiers"];
/// Kinds of parameters that a call may leave out. `self` of Rust is one: `value.f()` leaves it out, `Type::f(value)` passes
/// it.
const OPTIONAL: [&str; 2] = ["optional_parameter_declaration", "self_parameter"];
/// Kinds of parameters that take any number of arguments.
const REPEATED: [&str; 4] =
    ["...", "spread_parameter", "variadic_parameter", "variadic_parameter_declaration"];
/// Kinds of the other parameters; in a list without types, a parameter is an identifier.
const REQUIRED: [&str; 4] = ["formal_parameter", "identifier", "parameter", "parameter_declaration"];
/// Kinds of arguments that expand to any number of arguments.
const SPREAD: [&str; 2] = ["parameter_pack_expansion", "variadic_argument"];

/// Returns the byte at which the parameters of a function start, and the number of arguments that the function takes, if
/// known; `None` for a node without parameters.
pub(super) fn function_arity(function: Node<'_>, text: &str) -> Option<(usize, Option<Arity>)> {
    let parameters = function.child_by_field_name("parameters")?;
    Some((parameters.start_byte(), count_parameters(function, parameters, text)))
}

fn count_parameters(function: Node<'_>, parameters: Node<'_>, text: &str) -> Option<Arity> {
    if parameters.has_error() {
        return None;
    }
    let (mut least, mut n_most) = (0_usize, 0_usize);
    let mut is_open = false;
    let mut cursor = parameters.walk();
    for parameter in parameters.children(&mut cursor) {
        let kind = parameter.kind();
        if kind == "attribute_item" {
            return None; // an attribute such as `#[cfg]` may leave the next parameter out
        }
        if REPEATED.contains(&kind) {
            is_open = true;
        } else if parameter.is_extra() || !parameter.is_named() || NOT_PARAMETERS.contains(&kind) {
            continue;
        } else if OPTIONAL.contains(&kind) || is_self(parameter, text) {
            n_most += 1;
        } else if REQUIRED.contains(&kind) {
            let n = count_declared(parameter, text);
            (least, n_most) = (least + n, n_most + n);
        } else {
            return None;
        }
    }
    if function.kind() == "function_declarator" {
        // In C, empty parentheses do not mean that there are no parameters, and a lone type name may be the name of a macro.
        let mut cursor = parameters.walk();
        let has_bare = parameters
            .named_children(&mut cursor)
            .any(|parameter| parameter.named_child_count() == 1 && count_declared(parameter, text) == 1);
        if parameters.named_child_count() == 0 || has_bare {
            return None;
        }
        // The default arguments of a C++ function are in its declaration, which may be in another file.
        least = 0;
    }
    let most = if is_open { usize::MAX } else { n_most };
    let [least, most] = [least, most].map(|n| u8::try_from(n).unwrap_or(u8::MAX));
    Some(Arity { least, most })
}

/// Returns whether a parameter of a Rust function is the receiver of a method: `self: Box<Self>`.
fn is_self(parameter: Node<'_>, text: &str) -> bool {
    let pattern = parameter.child_by_field_name("pattern");
    pattern.is_some_and(|pattern| text.get(pattern.byte_range()) == Some("self"))
}

/// Returns the number of parameters that one declaration declares: two for `a, b int` in Go, none for `void` in C.
fn count_declared(parameter: Node<'_>, text: &str) -> usize {
    if text.get(parameter.byte_range()) == Some("void")
        && parameter.parent().is_some_and(|parameters| parameters.named_child_count() == 1)
    {
        return 0;
    }
    let mut cursor = parameter.walk();
    let n_names = parameter.children_by_field_name("name", &mut cursor).count();
    n_names.max(1)
}

/// Returns the number of arguments of a call; `None` if it is not known.
pub(super) fn count_arguments(call: Node<'_>) -> Option<u8> {
    let arguments = call.child_by_field_name("arguments").filter(|found| !found.has_error())?;
    let mut cursor = arguments.walk();
    let passed = arguments.named_children(&mut cursor).filter(|argument| !argument.is_extra());
    let kinds: Vec<&str> = passed.map(|argument| argument.kind()).collect();
    // In Go, a lone call as the argument may return several values. For other languages with the same kind of node, little is
    // lost.
    let is_unknown = kinds == ["call_expression"] || kinds.iter().any(|kind| SPREAD.contains(kind));
    u8::try_from(kinds.len()).ok().filter(|_| !is_unknown)
}
