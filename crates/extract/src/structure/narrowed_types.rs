//! Records the types that conditions prove of a variable: `isinstance(value, Order)`, `value instanceof Order`, a case of a type switch.

use std::borrow::Cow;

use tree_sitter::Node;

use super::languages::ImportSyntax;
use super::node_text::{field_text, named_children};
use super::walker::TreeWalker;
use super::{FoundValue, MAX_NAME_BYTES, value_types};

/// Statements of Python whose block has what their condition proves.
const CONDITIONAL: [&str; 3] = ["if_statement", "elif_clause", "while_statement"];
/// Statements after which the rest of a block is not reached.
const LEAVING: [&str; 4] = ["break_statement", "continue_statement", "raise_statement", "return_statement"];
/// Most nodes of a condition around a test.
const MAX_CONDITION_DEPTH: usize = 4;

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the type that `isinstance(value, Order)` of Python proves: in the block of the condition, after an assertion, and after
    /// the block if a negated condition leaves the function or the loop.
    pub(super) fn add_isinstance(&mut self, arguments: &[Node<'t>]) {
        let [value, of_type] = arguments else { return };
        let Some((from, block_end)) = self.bytes_of_condition() else { return };
        let types = match of_type.kind() {
            "tuple" => named_children(*of_type),
            _ => vec![*of_type],
        };
        let names: Option<Vec<&str>> = types
            .into_iter()
            .map(|of_type| {
                matches!(of_type.kind(), "identifier" | "attribute").then(|| self.text_of(of_type))
            })
            .collect();
        if let Some(names) = names.filter(|_| value.kind() == "identifier") {
            self.push_narrowed(*value, names.join("|"), from, block_end);
        }
    }

    /// Returns where the condition around the current node holds: its first byte and the end.
    fn bytes_of_condition(&self) -> Option<(usize, usize)> {
        let mut is_negated = false;
        let around = self.path.iter().enumerate().rev().take(MAX_CONDITION_DEPTH);
        for (at, (node, _)) in around {
            match node.kind() {
                "not_operator" => is_negated = true,
                "parenthesized_expression" => {}
                "boolean_operator"
                    if !is_negated && field_text(*node, "operator", self.text) == Some("and") => {}
                "assert_statement" if !is_negated => {
                    let block = self.path.get(at.checked_sub(1)?)?.0;
                    return Some((node.start_byte(), block.end_byte()));
                }
                kind if CONDITIONAL.contains(&kind) => {
                    let body = node
                        .child_by_field_name("consequence")
                        .or_else(|| node.child_by_field_name("body"))?;
                    if !is_negated {
                        return Some((node.start_byte(), body.end_byte()));
                    }
                    let last = named_children(body).pop()?;
                    let leaves = kind == "if_statement" && LEAVING.contains(&last.kind());
                    let block = self.path.get(at.checked_sub(1)?)?.0;
                    let has_others = node.child_by_field_name("alternative").is_some();
                    return (leaves && !has_others).then(|| (last.start_byte(), block.end_byte()));
                }
                _ => return None,
            }
        }
        None
    }

    /// Records the type that the condition of an `if` of JavaScript proves in its block.
    pub(super) fn add_instance_condition(&mut self, node: Node<'t>) {
        if self.nodes.import_syntax != ImportSyntax::JavaScript {
            return;
        }
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
        else {
            return;
        };
        let mut open = vec![(condition, MAX_CONDITION_DEPTH)];
        while let Some((test, depth)) = open.pop() {
            let operator = field_text(test, "operator", self.text);
            let sides = (test.child_by_field_name("left"), test.child_by_field_name("right"));
            match (test.kind(), operator, sides) {
                ("parenthesized_expression", ..) if depth > 0 => {
                    open.extend(test.named_child(0).map(|inner| (inner, depth - 1)));
                }
                (_, Some("&&"), (Some(left), Some(right))) if depth > 0 => {
                    open.extend([(left, depth - 1), (right, depth - 1)]);
                }
                (_, Some("instanceof"), (Some(value), Some(of_type))) if value.kind() == "identifier" => {
                    if matches!(of_type.kind(), "identifier" | "member_expression") {
                        let of = self.text_of(of_type).to_owned();
                        self.push_narrowed(value, of, node.start_byte(), body.end_byte());
                    }
                }
                _ => {}
            }
        }
    }

    /// Records the type that the variable of a type switch of Go has in a case of one type.
    pub(super) fn add_type_case(&mut self, case: Node<'t>) {
        let switch = self.path.last().map(|(switch, _)| *switch);
        let alias = switch.and_then(|switch| switch.child_by_field_name("alias"));
        let Some(name) = alias.and_then(|alias| alias.named_child(0)) else { return };
        let mut cursor = case.walk();
        let types: Vec<Node<'_>> = case.children_by_field_name("type", &mut cursor).collect();
        if let [only] = types[..]
            && let Some(of) = value_types::named_type(only, self.text)
        {
            self.push_narrowed(name, of.to_own_name().into_owned(), case.start_byte(), case.end_byte());
        }
    }

    fn push_narrowed(&mut self, value: Node<'t>, of: String, from: usize, block_end: usize) {
        let name = self.text_of(value);
        if of.len() <= MAX_NAME_BYTES && name.len() <= MAX_NAME_BYTES {
            self.found.values.push(FoundValue {
                name: Cow::Borrowed(name),
                of: Cow::Owned(of),
                is_written: true,
                at: from,
                named_at: value.start_byte().max(from),
                block_end,
                is_narrowed: true,
            });
        }
    }
}
