//! Finds the bytes in which a variable, a parameter or the name in a pattern is known.

use std::ops::Range;

use tree_sitter::Node;

use super::bindings::FoundBinding;
use super::languages::ImportSyntax;
use super::walker::TreeWalker;

/// Comprehensions of Python, which have their variables for themselves.
const COMPREHENSIONS: [&str; 4] =
    ["dictionary_comprehension", "generator_expression", "list_comprehension", "set_comprehension"];
/// Statements of Python in whose rest a name is bound that is written behind `as` or in a pattern.
const AS_STATEMENTS: [&str; 4] = ["case_clause", "except_clause", "except_group_clause", "with_statement"];
/// Functions of Python.
const PYTHON_FUNCTIONS: [&str; 2] = ["function_definition", "lambda"];
/// Statements and blocks of Go with variables of their own.
const GO_SCOPES: [&str; 11] = [
    "block",
    "communication_case",
    "default_case",
    "expression_case",
    "expression_switch_statement",
    "for_statement",
    "func_literal",
    "function_declaration",
    "if_statement",
    "method_declaration",
    "type_switch_statement",
];
/// Functions of Go.
const GO_FUNCTIONS: [&str; 3] = ["func_literal", "function_declaration", "method_declaration"];
/// Statements and blocks of Java with variables of their own.
const JAVA_SCOPES: [&str; 7] = [
    "block",
    "constructor_body",
    "for_statement",
    "lambda_expression",
    "switch_block_statement_group",
    "switch_rule",
    "try_with_resources_statement",
];
/// Functions of Java, and the clause that has the parameter of an exception.
const JAVA_FUNCTIONS: [&str; 5] = [
    "catch_clause",
    "compact_constructor_declaration",
    "constructor_declaration",
    "lambda_expression",
    "method_declaration",
];
/// Statements and blocks of C and C++ with variables of their own.
const C_SCOPES: [&str; 6] = [
    "compound_statement",
    "for_range_loop",
    "for_statement",
    "if_statement",
    "switch_statement",
    "while_statement",
];
/// Functions of C++, and the clause that has the parameter of an exception.
const C_FUNCTIONS: [&str; 3] = ["catch_clause", "function_definition", "lambda_expression"];
/// Nodes of C and C++ whose declarations are no variables of a function.
const C_OUTER: [&str; 4] =
    ["declaration_list", "field_declaration_list", "template_parameter_list", "translation_unit"];
/// Nodes of Python and Java in which a binding is no variable of a function.
const TYPES: [&str; 5] =
    ["annotation_type_body", "class_body", "class_definition", "enum_body_declarations", "interface_body"];

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records where names are known that a node binds: in a block, a clause or a function. Names at the top of a file or in a type are
    /// known to others, and are left out.
    pub(super) fn add_bindings(&mut self, node: Node<'t>, names: &[(&'a str, usize)]) {
        // A loop or clause of Python binds a variable of the whole function; up to the end of the clause, it is the clause's own.
        let is_python = self.nodes.import_syntax == ImportSyntax::Python;
        let is_leaked = is_python && node.kind() != "for_in_clause";
        let of_function = if is_leaked { self.function_of_variable() } else { None };
        let own = self.scope_of_variable(node);
        let may_be_known = node.kind() == "short_var_declaration";
        for (scope, is_function) in [(own, false), (of_function, true)] {
            let Some(scope) = scope else { continue };
            for (name, at) in names {
                if self.is_self_name(name) {
                    continue;
                }
                self.found.bindings.push(FoundBinding {
                    name,
                    at: *at,
                    scope: scope.clone(),
                    is_declared: !is_function,
                    is_inner: is_leaked && !is_function,
                    may_be_known,
                });
            }
        }
    }

    fn scope_of_variable(&self, node: Node<'t>) -> Option<Range<usize>> {
        match self.nodes.import_syntax {
            ImportSyntax::Python => self.python_scope(node),
            ImportSyntax::JavaScript => self.scope_of_binding(node),
            ImportSyntax::Rust => self.rust_scope(node),
            ImportSyntax::Go => self.go_scope(node),
            ImportSyntax::Java => self.java_scope(node),
            ImportSyntax::C => self.c_scope(node),
        }
    }

    /// Returns the bytes of the function of Python whose variable a node binds.
    fn function_of_variable(&self) -> Option<Range<usize>> {
        let mut around = self.nodes_around();
        let function = around
            .find(|around| PYTHON_FUNCTIONS.contains(&around.kind()) || TYPES.contains(&around.kind()))?;
        PYTHON_FUNCTIONS.contains(&function.kind()).then(|| function.byte_range())
    }

    fn python_scope(&self, node: Node<'t>) -> Option<Range<usize>> {
        let rest_of = |kinds: &[&str]| {
            let around = self.nodes_around().find(|around| kinds.contains(&around.kind()))?;
            Some(node.end_byte()..around.end_byte())
        };
        match node.kind() {
            "for_statement" => Some(node.child_by_field_name("body")?.byte_range()),
            "for_in_clause" => self.range_around(&COMPREHENSIONS),
            "as_pattern_target" | "as_pattern" | "dotted_name" | "splat_pattern" => rest_of(&AS_STATEMENTS),
            "named_expression" => self.range_around(&COMPREHENSIONS).or_else(|| {
                let mut around = self.nodes_around();
                let statement = around.find(|around| around.kind().ends_with("statement"))?;
                Some(node.end_byte()..statement.end_byte())
            }),
            _ => None,
        }
    }

    fn rust_scope(&self, node: Node<'t>) -> Option<Range<usize>> {
        let around = self.nodes_around().next()?;
        match node.kind() {
            "closure_parameters" => Some(around.byte_range()),
            "parameter" => {
                self.range_around(&["closure_expression", "function_item", "function_signature_item"])
            }
            "let_declaration" => self
                .nodes_around()
                .find(|around| around.kind() == "block")
                .map(|block| node.end_byte()..block.end_byte()),
            "for_expression" => Some(node.child_by_field_name("body")?.byte_range()),
            "match_arm" => Some(node.byte_range()),
            "let_condition" => {
                let kinds = ["if_expression", "match_arm", "while_expression"];
                let around = self.nodes_around().find(|around| kinds.contains(&around.kind()))?;
                let then = around.child_by_field_name("consequence");
                Some(node.end_byte()..then.unwrap_or(around).end_byte())
            }
            _ => None,
        }
    }

    fn go_scope(&self, node: Node<'t>) -> Option<Range<usize>> {
        match node.kind() {
            "parameter_declaration" | "variadic_parameter_declaration" => {
                let mut around = self.nodes_around();
                let list = around.next()?;
                let function = around.next().filter(|function| GO_FUNCTIONS.contains(&function.kind()))?;
                (list.kind() == "parameter_list").then(|| function.byte_range())
            }
            "range_clause" | "receive_statement" if !self.text_of(node).contains(":=") => None,
            "type_switch_statement" => Some(node.byte_range()),
            _ => {
                let scope = self.rest_of_scope(node, &GO_SCOPES)?;
                // The block of a function has its parameters, too; any other block has only what it declares.
                let mut around = self.nodes_around().skip_while(|around| around.end_byte() < scope.end);
                let is_block = around.next().is_some_and(|block| block.kind() == "block");
                let is_body = around.next().is_some_and(|outer| GO_FUNCTIONS.contains(&outer.kind()));
                let end = if is_block && !is_body { scope.end - 1 } else { scope.end };
                Some(scope.start.min(end)..end)
            }
        }
    }

    fn java_scope(&self, node: Node<'t>) -> Option<Range<usize>> {
        let around = self.nodes_around().next()?;
        match node.kind() {
            "formal_parameter" | "catch_formal_parameter" => self.range_around(&JAVA_FUNCTIONS),
            "inferred_parameters" => Some(around.byte_range()),
            "lambda_expression" => Some(node.byte_range()),
            "variable_declarator" if around.kind() == "field_declaration" => None,
            "enhanced_for_statement" => Some(node.child_by_field_name("body")?.byte_range()),
            "resource" => {
                let statement =
                    self.nodes_around().find(|around| around.kind() == "try_with_resources_statement")?;
                Some(node.end_byte()..statement.child_by_field_name("body")?.end_byte())
            }
            _ => self.rest_of_scope(node, &JAVA_SCOPES),
        }
    }

    fn c_scope(&self, node: Node<'t>) -> Option<Range<usize>> {
        match node.kind() {
            "parameter_declaration" => {
                let kinds = [&C_FUNCTIONS[..], &C_OUTER, &C_SCOPES].concat();
                let around = self.nodes_around().find(|around| kinds.contains(&around.kind()))?;
                C_FUNCTIONS.contains(&around.kind()).then(|| around.byte_range())
            }
            "for_range_loop" => Some(node.child_by_field_name("body")?.byte_range()),
            _ => {
                let kinds = [&C_OUTER[..], &C_SCOPES].concat();
                let around = self.nodes_around().find(|around| kinds.contains(&around.kind()))?;
                C_SCOPES.contains(&around.kind()).then(|| node.end_byte()..around.end_byte())
            }
        }
    }

    /// Returns the bytes after a node up to the end of the innermost node of `kinds` around it.
    fn rest_of_scope(&self, node: Node<'t>, kinds: &[&str]) -> Option<Range<usize>> {
        let mut around = self.nodes_around();
        let scope = around.find(|around| kinds.contains(&around.kind()) || TYPES.contains(&around.kind()))?;
        kinds.contains(&scope.kind()).then(|| node.end_byte()..scope.end_byte())
    }

    fn range_around(&self, kinds: &[&str]) -> Option<Range<usize>> {
        self.nodes_around().find(|around| kinds.contains(&around.kind())).map(|around| around.byte_range())
    }
}
