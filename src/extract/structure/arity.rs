//! Counts what functions take and what calls pass, in languages whose compilers compare the two.

use tree_sitter::Node;

use crate::types::Arity;

/// Children of parameters that are none: what a method is called on, attributes.
const NONE: [&str; 3] = ["receiver_parameter", "attribute_item", "modifiers"];
/// Parameters that a call may leave out. A method of Rust may be given its receiver as an argument.
const OPTIONAL: [&str; 2] = ["optional_parameter_declaration", "self_parameter"];
/// Parameters that stand for any number of arguments.
const REPEATED: [&str; 4] =
    ["...", "spread_parameter", "variadic_parameter", "variadic_parameter_declaration"];
/// Other parameters; in a list without types they are names.
const REQUIRED: [&str; 4] = ["formal_parameter", "identifier", "parameter", "parameter_declaration"];
/// Arguments that stand for any number of them.
const SPREAD: [&str; 2] = ["parameter_pack_expansion", "variadic_argument"];

/// Returns how many arguments a function takes, given its node and text; `None` if that is not told.
pub(super) fn of_function(function: Node<'_>, text: &str) -> Option<(usize, Arity)> {
    let parameters = function.child_by_field_name("parameters").filter(|found| !found.has_error())?;
    let (mut least, mut n_most) = (0_usize, 0_usize);
    let mut is_open = false;
    let mut cursor = parameters.walk();
    for parameter in parameters.children(&mut cursor) {
        let kind = parameter.kind();
        if REPEATED.contains(&kind) {
            is_open = true;
        } else if parameter.is_extra() || !parameter.is_named() || NONE.contains(&kind) {
        } else if OPTIONAL.contains(&kind) {
            n_most += 1;
        } else if REQUIRED.contains(&kind) {
            let n = n_declared(parameter, text);
            (least, n_most) = (least + n, n_most + n);
        } else {
            return None;
        }
    }
    // The defaults of a function of C++ stand where it is declared, which may be elsewhere.
    if function.kind() == "function_declarator" {
        least = 0;
    }
    let count = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    let most = if is_open { u8::MAX } else { count(n_most) };
    Some((parameters.start_byte(), Arity { least: count(least), most }))
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
    let mut passed = arguments.named_children(&mut cursor).filter(|argument| !argument.is_extra());
    let first = passed.next();
    let n = usize::from(first.is_some()) + passed.by_ref().count();
    // A call of Go may return several values, which are then all that is passed.
    let may_be_several = n == 1 && first.is_some_and(|first| first.kind() == "call_expression");
    let mut cursor = arguments.walk();
    let is_told = !may_be_several
        && arguments.named_children(&mut cursor).all(|argument| !SPREAD.contains(&argument.kind()));
    is_told.then(|| u8::try_from(n).ok()).flatten()
}
