//! Counts what functions take and what calls pass, in languages whose compilers compare the two.

use memod_base::types::Arity;
use tree_sitter::Node;

/// Children of parameters that are none: what a method is called on.
const NOT_PARAMETERS: [&str; 2] = ["receiver_parameter", "modifiers"];
/// Parameters that a call may leave out. A method of Rust may be given its receiver as an argument.
const OPTIONAL: [&str; 2] = ["optional_parameter_declaration", "self_parameter"];
/// Parameters that stand for any number of arguments.
const REPEATED: [&str; 4] =
    ["...", "spread_parameter", "variadic_parameter", "variadic_parameter_declaration"];
/// Other parameters; in a list without types they are names.
const REQUIRED: [&str; 4] = ["formal_parameter", "identifier", "parameter", "parameter_declaration"];
/// Arguments that stand for any number of them.
const SPREAD: [&str; 2] = ["parameter_pack_expansion", "variadic_argument"];

/// Returns where the parameters of a function are, in bytes, and how many arguments it takes, if that is told; `None` of what has none.
pub(super) fn of_function(function: Node<'_>, text: &str) -> Option<(usize, Option<Arity>)> {
    let parameters = function.child_by_field_name("parameters")?;
    Some((parameters.start_byte(), arity(function, parameters, text)))
}

fn arity(function: Node<'_>, parameters: Node<'_>, text: &str) -> Option<Arity> {
    if parameters.has_error() {
        return None;
    }
    let (mut least, mut n_most) = (0_usize, 0_usize);
    let mut is_open = false;
    let mut cursor = parameters.walk();
    for parameter in parameters.children(&mut cursor) {
        let kind = parameter.kind();
        if kind == "attribute_item" {
            return None; // a condition may leave the next one out
        }
        if REPEATED.contains(&kind) {
            is_open = true;
        } else if parameter.is_extra() || !parameter.is_named() || NOT_PARAMETERS.contains(&kind) {
            continue;
        } else if OPTIONAL.contains(&kind) || is_self(parameter, text) {
            n_most += 1;
        } else if REQUIRED.contains(&kind) {
            let n = n_declared(parameter, text);
            (least, n_most) = (least + n, n_most + n);
        } else {
            return None;
        }
    }
    if function.kind() == "function_declarator" {
        // Empty brackets of C say nothing, and the name of a type alone may be that of a macro.
        let is_bare =
            |parameter: Node<'_>| parameter.named_child_count() == 1 && n_declared(parameter, text) == 1;
        let mut cursor = parameters.walk();
        let has_bare = parameters.named_children(&mut cursor).any(is_bare);
        if parameters.named_child_count() == 0 || has_bare {
            return None;
        }
        // The defaults of a function of C++ stand where it is declared, which may be elsewhere.
        least = 0;
    }
    let count = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    let most = if is_open { u8::MAX } else { count(n_most) };
    Some(Arity { least: count(least), most })
}

/// Whether a parameter of Rust is what a method is called on: `self: Box<Self>`.
fn is_self(parameter: Node<'_>, text: &str) -> bool {
    let pattern = parameter.child_by_field_name("pattern");
    pattern.is_some_and(|pattern| text.get(pattern.byte_range()) == Some("self"))
}

/// Returns how many parameters a declaration declares: `a, b int` of Go two, `void` of C none.
fn n_declared(parameter: Node<'_>, text: &str) -> usize {
    let is_alone = || parameter.parent().is_some_and(|parameters| parameters.named_child_count() == 1);
    if text.get(parameter.byte_range()) == Some("void") && is_alone() {
        return 0;
    }
    let mut cursor = parameter.walk();
    let n_names = parameter.children_by_field_name("name", &mut cursor).count();
    n_names.max(1)
}

/// Returns how many arguments a call passes; `None` if that is not told.
pub(super) fn of_call(call: Node<'_>) -> Option<u8> {
    let arguments = call.child_by_field_name("arguments").filter(|found| !found.has_error())?;
    let mut cursor = arguments.walk();
    let passed = arguments.named_children(&mut cursor).filter(|argument| !argument.is_extra());
    let kinds: Vec<&str> = passed.map(|argument| argument.kind()).collect();
    // A call of Go may return several values, which are then all that is passed. Other languages call it so, too, and lose little.
    let is_untold = kinds == ["call_expression"] || kinds.iter().any(|kind| SPREAD.contains(kind));
    u8::try_from(kinds.len()).ok().filter(|_| !is_untold)
}
