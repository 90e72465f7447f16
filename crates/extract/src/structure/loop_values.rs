//! Records the variables of loops, of short functions and of patterns: each has the type of the elements of what it goes through.
//!
//! The value is a path with a mark at its end: `orders{}` is an element of `orders`, and `found?` what an `Option` holds.

use std::borrow::Cow;

use tree_sitter::Node;

use super::languages::ImportSyntax;
use super::node_text::{field_text, named_children};
use super::walker::{MAX_RECEIVER_PARTS, TreeWalker};
use super::{FoundValue, MAX_NAME_BYTES, offset_in};

/// Kinds of functions without a name.
const LAMBDAS: [&str; 4] =
    ["arrow_function", "closure_expression", "function_expression", "lambda_expression"];
/// Methods that pass their own value, and no element, to a function: of what is there later, or perhaps.
const OF_VALUE: [&str; 8] = ["also", "apply", "ifPresent", "let", "tap", "then", "thenAccept", "thenApply"];
/// Methods that pass each element of a list, or what an `Option` holds, to a function.
const OF_ELEMENTS: [&str; 34] = [
    "all",
    "allMatch",
    "and_then",
    "any",
    "anyMatch",
    "every",
    "filter",
    "filter_map",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat_map",
    "flatMap",
    "for_each",
    "forEach",
    "inspect",
    "is_some_and",
    "map",
    "map_or",
    "mapToInt",
    "mapToLong",
    "max_by_key",
    "min_by_key",
    "noneMatch",
    "partition",
    "peek",
    "position",
    "removeIf",
    "retain",
    "some",
    "sort_by_key",
    "take_while",
    "toSorted",
];
/// Patterns of Rust that take a value out of what holds it.
const UNWRAPPING: [&str; 3] = ["Err", "Ok", "Some"];

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the variables that a loop, a function without a name or a pattern binds.
    pub(super) fn add_loop_values(&mut self, node: Node<'t>) {
        match (node.kind(), self.nodes.import_syntax) {
            ("for_statement" | "for_in_clause", ImportSyntax::Python) => self.add_python_loop(node),
            ("for_in_statement", _) if field_text(node, "operator", self.text) == Some("of") => {
                self.add_loop(node, "left", "right");
            }
            ("enhanced_for_statement", _) if field_text(node, "type", self.text) == Some("var") => {
                self.add_loop(node, "name", "value");
            }
            ("for_range_loop", _) => self.add_loop(node, "declarator", "right"),
            ("for_expression", ImportSyntax::Rust) => self.add_loop(node, "pattern", "value"),
            ("range_clause", _) => self.add_go_loop(node),
            ("let_condition" | "let_declaration", ImportSyntax::Rust) => {
                let (Some(pattern), Some(value)) =
                    (node.child_by_field_name("pattern"), node.child_by_field_name("value"))
                else {
                    return;
                };
                self.add_unwrapped(pattern, value);
            }
            ("match_arm", _) => {
                let of_match = self.path.len().checked_sub(2).map(|at| self.path[at].0);
                let value = of_match.and_then(|outer| outer.child_by_field_name("value"));
                let pattern = node.child_by_field_name("pattern").and_then(|pattern| pattern.named_child(0));
                if let (Some(pattern), Some(value)) = (pattern, value) {
                    self.add_unwrapped(pattern, value);
                }
            }
            (kind, _) if LAMBDAS.contains(&kind) => self.add_lambda_parameter(node),
            _ => {}
        }
    }

    /// Records the variable of a loop, whose fields are those of the nodes of the variable and of the list.
    fn add_loop(&mut self, node: Node<'t>, variable: &str, list: &str) {
        let (Some(variable), Some(list)) =
            (node.child_by_field_name(variable), node.child_by_field_name(list))
        else {
            return;
        };
        let Some(path) = self.expression_path(list, MAX_RECEIVER_PARTS) else { return };
        if variable.kind() == "object_pattern" {
            return self.add_fields_of_pattern(variable, &format!("{path}{{}}"), 1);
        }
        // `for (i, order) in orders.iter().enumerate()`
        let (variable, path) = match path.strip_suffix(".enumerate()") {
            Some(list) if variable.named_child_count() == 2 => (variable.named_child(1), list.to_owned()),
            _ => (Some(variable), path),
        };
        if let Some(variable) = variable {
            self.push_loop_value(variable, format!("{path}{{}}"), node.end_byte());
        }
    }

    fn add_python_loop(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let names = if left.kind() == "identifier" { vec![left] } else { named_children(left) };
        let called = field_text(right, "function", self.text).unwrap_or_default();
        let of_list = match (names.as_slice(), called) {
            ([_, second], "enumerate") => {
                let list = right.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                list.and_then(|list| Some((*second, self.expression_path(list, MAX_RECEIVER_PARTS)? + "{}")))
            }
            ([_, second], _) => {
                let path = self.expression_path(right, MAX_RECEIVER_PARTS);
                path.and_then(|path| Some((*second, format!("{}[]", path.strip_suffix(".items()")?))))
            }
            ([only], "reversed" | "sorted" | "iter" | "list" | "tuple" | "set") => {
                let list = right.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                list.and_then(|list| Some((*only, self.expression_path(list, MAX_RECEIVER_PARTS)? + "{}")))
            }
            ([only], _) => {
                let path = self.expression_path(right, MAX_RECEIVER_PARTS);
                path.map(|path| (*only, path + "{}"))
            }
            _ => None,
        };
        let end = if node.kind() == "for_in_clause" {
            self.path.last().map_or(0, |(around, _)| around.end_byte())
        } else {
            usize::MAX
        };
        if let Some((name, path)) = of_list {
            self.push_loop_value(name, path, end);
        }
    }

    fn add_go_loop(&mut self, node: Node<'t>) {
        let element = node.child_by_field_name("left").and_then(|left| left.named_child(1));
        let list = node.child_by_field_name("right");
        let path = list.and_then(|list| self.expression_path(list, MAX_RECEIVER_PARTS));
        let end = self.path.last().map_or(usize::MAX, |(around, _)| around.end_byte());
        if let (Some(element), Some(path)) = (element, path) {
            self.push_loop_value(element, path + "[]", end);
        }
    }

    /// Records the variable in `Some(order)` or `Ok(order)`.
    fn add_unwrapped(&mut self, pattern: Node<'t>, value: Node<'t>) {
        let of = field_text(pattern, "type", self.text).unwrap_or_default();
        if pattern.kind() != "tuple_struct_pattern" || !UNWRAPPING.contains(&of) || of == "Err" {
            return;
        }
        let Some(path) = self.expression_path(value, MAX_RECEIVER_PARTS) else { return };
        if let Some(name) = pattern.named_child(1) {
            let around = self.path.iter().rev().map(|(node, _)| *node).find(|node| node.kind() == "block");
            self.push_loop_value(name, path + "?", around.map_or(usize::MAX, |block| block.end_byte()));
        }
    }

    /// Records the first parameter of a function without a name that a method calls with each element: `orders.map((order) => …)`.
    fn add_lambda_parameter(&mut self, node: Node<'t>) {
        let Some(call) = self.path.len().checked_sub(2).map(|at| self.path[at].0) else { return };
        let callee = call.child_by_field_name("function").unwrap_or(call);
        let parts = [("value", "field"), ("object", "property"), ("object", "name")];
        let found = parts.iter().find_map(|(object, name)| {
            Some((callee.child_by_field_name(object)?, field_text(callee, name, self.text)?))
        });
        let Some((object, method)) = found else { return };
        let mark = match method {
            _ if OF_VALUE.contains(&method) => "",
            _ if OF_ELEMENTS.contains(&method) => "{}",
            _ => return,
        };
        let Some(path) = self.expression_path(object, MAX_RECEIVER_PARTS) else { return };
        let list = node.child_by_field_name("parameters").or_else(|| node.child_by_field_name("parameter"));
        let Some(list) = list else { return };
        let first = if list.kind() == "identifier" { Some(list) } else { list.named_child(0) };
        let Some(first) = first.filter(|first| first.child_by_field_name("type").is_none()) else { return };
        let first = first.child_by_field_name("pattern").unwrap_or(first);
        match first.kind() {
            _ if self.imported_patterns.contains(&first.id()) => {}
            "object_pattern" => self.add_fields_of_pattern(first, &format!("{path}{mark}"), 1),
            _ => self.push_loop_value(first, format!("{path}{mark}"), node.end_byte()),
        }
    }

    fn push_loop_value(&mut self, variable: Node<'t>, path: String, block_end: usize) {
        let path = self.root_at_self(path);
        if path.len() > MAX_NAME_BYTES {
            return;
        }
        if let Some(name) = self.value_name(variable) {
            let (of, at) = (Cow::Owned(path), variable.start_byte());
            let named_at = offset_in(&name, self.text).unwrap_or(at);
            let value = FoundValue::set_to_expression(name, of, at);
            self.found.values.push(FoundValue { named_at, block_end, ..value });
        }
    }
}
