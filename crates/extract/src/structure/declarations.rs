//! Records declarations: names, their types, type parameters, and the number of arguments of functions.

use std::borrow::Cow;
use std::ops::Range;

use memod_base::types::{ImportedName, UseRole, last_part};
use tree_sitter::Node;

use super::languages::{ImportSyntax, TEMPLATE_PARAMETERS};
use super::walker::{MAX_RECEIVER_PARTS, TreeWalker};
use super::{
    FoundReceiver, FoundUse, FoundValue, MAX_NAME_BYTES, arity, constructor_calls, imports, node_marks,
    offset_in, value_types,
};

/// Most declarators around a name, such as pointers and arrays.
const MAX_DECLARATORS: usize = 6;
/// Fields of a pattern that bind nothing: types, defaults, keys, lengths of arrays, guards.
const NOT_BOUND: [&str; 7] = ["type", "right", "value", "key", "size", "parameters", "condition"];
/// Targets of assignments that bind nothing: `cache[key] = value`.
const NO_PATTERNS: [&str; 3] = ["subscript", "subscript_expression", "index_expression"];

/// Expressions with one of several values.
const CHOICES: [&str; 4] =
    ["binary_expression", "boolean_operator", "conditional_expression", "ternary_expression"];
/// Functions of Python that return a type; `grammars/python/tags.scm` lists them, too.
const TYPE_MAKERS: [&str; 9] = [
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "StrEnum",
    "TypedDict",
    "make_dataclass",
    "namedtuple",
];
/// Kinds of nodes in which a variable is known that they declare.
const BLOCKS: [&str; 6] = [
    "block",
    "compound_statement",
    "expression_case",
    "statement_block",
    "switch_block_statement_group",
    "type_case",
];

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the names and types that a node declares.
    pub(super) fn add_declaration(&mut self, node: Node<'t>) {
        let kind = node.kind();
        if self.nodes.import_syntax == ImportSyntax::JavaScript {
            self.add_loaded_modules(node, kind);
            self.add_pattern_fields(node);
        }
        if self.nodes.import_syntax == ImportSyntax::Python {
            self.add_python_names(node);
        }
        for (_, field) in self.nodes.binders.iter().filter(|(binder, _)| *binder == kind) {
            self.bind_names(node, field);
        }
        for (_, field) in self.nodes.type_parameters.iter().filter(|(parameter, _)| *parameter == kind) {
            self.add_type_parameters(node, field);
        }
        if self.nodes.import_syntax == ImportSyntax::C {
            self.add_internal_names(node);
        }
        if kind == TEMPLATE_PARAMETERS {
            self.add_template_parameters(node);
        }
        for declaration in self.nodes.values.iter().filter(|declaration| declaration.0 == kind) {
            self.add_values(node, *declaration);
        }
        if let Some((_, field)) = self.nodes.functions.iter().find(|(function, _)| *function == kind) {
            self.add_return_type(node, field);
        }
        self.add_loop_values(node);
        if constructor_calls::CALL_KINDS.contains(&kind) {
            self.add_constructor_call(node);
        }
        match kind {
            node_marks::RECORD => self.add_record_components(node),
            "record_pattern_component" | "type_pattern" => self.add_java_pattern(node),
            "type_case" => self.add_type_case(node),
            "subscript_expression" if self.nodes.import_syntax == ImportSyntax::JavaScript => {
                self.add_string_key(node);
            }
            "string_content" => self.add_format_arguments(node),
            "offsetof_expression" => self.add_offset_field(node),
            "if_statement" => self.add_instance_condition(node),
            _ if node_marks::NAMESPACE_USES.contains(&kind) => {
                let scope = self.import_scope(node);
                let line = node.start_position().row as u32 + 1;
                let used = imports::used_namespace(self.text_of(node));
                let used = used.map(|used| ImportedName { scope_lines: scope, line, ..used });
                self.found.imports.extend(used);
            }
            _ => {}
        }
        if self.nodes.callables.contains(&kind) {
            self.found.arities.extend(arity::function_arity(node, self.text));
        }
        if let Some((_, field)) = self.nodes.methods.iter().find(|(method, _)| *method == kind) {
            let receiver = node.child_by_field_name(field);
            self.own_receiver =
                receiver.and_then(|node| self.parameter_name(node)).map(|name| (name, self.path.len()));
            if let Some(arguments) = receiver.and_then(type_arguments) {
                for name in self.names_in(arguments, |_, _| true) {
                    self.found.type_parameters.push((self.text_of(name), node.byte_range()));
                }
            }
        }
    }

    /// Records the names of the type parameters of a node: those in `field`, or the first type name if `field` is empty.
    fn add_type_parameters(&mut self, node: Node<'t>, field: &str) {
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = match field {
            "" => node.named_children(&mut cursor).find(is_type_name).into_iter().collect(),
            field => node.children_by_field_name(field, &mut cursor).collect(),
        };
        let scope = self.type_parameter_scope(node);
        for name in names {
            self.found.type_parameters.push((self.text_of(name), scope.clone()));
        }
    }

    /// Returns the bytes in which a type parameter is in scope: by default, those of the declaration that has the list of
    /// type parameters.
    fn type_parameter_scope(&self, parameter: Node<'t>) -> Range<usize> {
        let mut around = self.path.iter().rev().map(|(node, _)| *node);
        let scope = match parameter.kind() {
            // `{ [K in keyof T]: T[K] }`
            "mapped_type_clause" => around.next().map(|node| node.byte_range()),
            // `T extends (infer E)[] ? E : never`
            "infer_type" => around
                .find_map(|node| node.child_by_field_name("consequence"))
                .map(|then| parameter.start_byte()..then.end_byte()),
            _ => around.nth(1).map(|node| node.byte_range()),
        };
        scope.unwrap_or_else(|| parameter.byte_range())
    }

    /// Records the parameters of a C++ template, types and values. Their scope is the node around the list.
    fn add_template_parameters(&mut self, list: Node<'t>) {
        let Some((template, _)) = self.path.last() else { return };
        let (scope, mut cursor) = (template.byte_range(), list.walk());
        for parameter in list.named_children(&mut cursor) {
            let name = match parameter.kind() {
                "template_template_parameter_declaration" => {
                    parameter.named_children(&mut parameter.walk()).last().and_then(template_parameter_name)
                }
                kind if kind.ends_with("type_parameter_declaration") => template_parameter_name(parameter),
                _ => parameter.child_by_field_name("declarator"),
            };
            if let Some(Cow::Borrowed(name)) = name.and_then(|name| self.value_name(name)) {
                self.found.type_parameters.push((name, scope.clone()));
            }
        }
    }

    /// Records the names that a `static` declaration of C declares.
    fn add_internal_names(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        if !node
            .named_children(&mut cursor)
            .any(|child| child.kind() == "storage_class_specifier" && self.text_of(child) == "static")
        {
            return;
        }
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            if let Some(Cow::Borrowed(name)) = self.value_name(declarator) {
                self.found.internal.extend(offset_in(name, self.text));
            }
        }
    }

    fn add_constructor_call(&mut self, node: Node<'t>) {
        let around = self.path.iter().map(|(node, _)| *node);
        let Some((type_node, called)) = constructor_calls::constructed_type(node, around) else { return };
        self.found.uses.push(FoundUse {
            name: Cow::Borrowed(self.text_of(type_node)),
            at: called.start_byte(),
            // A constructor is a member that has the name of its type: the type around the call, or its base.
            receiver: FoundReceiver::Own,
            role: UseRole::Call,
            n_arguments: arity::count_arguments(node),
            is_value: false,
        });
    }

    /// Records the names that the patterns in a field of a node bind; if `field` is empty, the patterns in the whole node.
    fn bind_names(&mut self, node: Node<'t>, field: &str) {
        let mut cursor = node.walk();
        let patterns: Vec<Node<'t>> = match field {
            "" => node.named_children(&mut cursor).collect(),
            _ => node.children_by_field_name(field, &mut cursor).collect(),
        };
        let own = patterns.into_iter().filter(|pattern| !self.imported_patterns.contains(&pattern.id()));
        let names = own.flat_map(|pattern| self.bound_names(pattern));
        let bound = names.map(|name| (self.text_of(name), name.start_byte()));
        // In a pattern of Rust, the name of a variant or a constant binds nothing.
        let mut bound: Vec<_> = bound
            .filter(|(name, _)| node.kind() != "match_arm" || !name.starts_with(char::is_uppercase))
            .collect();
        if self.component.is_some()
            && let Some(scope) = self.function_around_parameters(node)
        {
            self.found.scoped.extend(bound.iter().map(|(name, _)| (*name, scope.clone())));
        }
        if let Some(scope) = self.scope_of_binding(node) {
            self.found.in_blocks.extend(bound.iter().map(|(name, at)| (*name, *at, scope.clone())));
        }
        self.add_bindings(node, &bound);
        self.add_open_values(node, &bound);
        self.found.bound.append(&mut bound);
    }

    /// Returns the bytes of the function whose parameters a node has. Functions in a template have no definition around them.
    fn function_around_parameters(&self, node: Node<'t>) -> Option<Range<usize>> {
        match node.kind() {
            "arrow_function" => Some(node.byte_range()),
            "formal_parameters" => self.path.last().map(|(function, _)| function.byte_range()),
            _ => None,
        }
    }

    /// Records the values of a declaration that names their type, or that sets them to an expression whose type may be found.
    fn add_values(&mut self, node: Node<'t>, declaration: value_types::ValueDeclaration) {
        let mut cursor = node.walk();
        let mut declared: Vec<Node<'_>> = match declaration.1 {
            "" => node.named_child(0).into_iter().collect(),
            field => node.children_by_field_name(field, &mut cursor).filter(Node::is_named).collect(),
        };
        if self.makes_type(node) || self.has_type_around(node) {
            return;
        }
        let of = self.union_of(node, declaration).map(|of| (Cow::Owned(of), true));
        let of = of.or_else(|| {
            value_types::declared_type(node, declaration, self.text).map(|of| (of.to_marked_name(), true))
        });
        let Some((of, is_written)) = of.or_else(|| Some((self.value_path(node, declaration.3)?, false)))
        else {
            self.add_open_value(node);
            return;
        };
        if let Some(list) = declared.first().filter(|first| first.kind() == "expression_list") {
            declared = list.named_child(0).into_iter().collect();
        }
        // In TypeScript, a constructor parameter with `public` or `private` declares a field.
        let is_field = node.named_child(0).is_some_and(|first| first.kind() == "accessibility_modifier");
        for declared in declared {
            let Some(name) = self.value_name(declared) else { continue };
            let at = declared.start_byte();
            let field = is_field.then(|| Cow::Owned(format!("self.{name}")));
            for name in field.into_iter().chain([name]) {
                let of = of.clone();
                let named_at = offset_in(&name, self.text).unwrap_or(at);
                self.push_value(FoundValue { is_written, named_at, ..FoundValue::of_type(name, of, at) });
            }
        }
    }

    /// Returns whether a declarator of Java is in a declaration that writes the type of its variable.
    fn has_type_around(&self, node: Node<'_>) -> bool {
        let around = self.path.last().map(|(around, _)| *around);
        let around = around.filter(|_| self.nodes.import_syntax == ImportSyntax::Java);
        let written = around
            .filter(|around| around.kind().ends_with("_declaration") && node.kind() == "variable_declarator")
            .and_then(|around| around.child_by_field_name("type"));
        written.is_some_and(|written| value_types::named_type(written, self.text).is_some())
    }

    /// Returns whether an assignment of Python makes a type by a call, so that its name is no value.
    fn makes_type(&self, node: Node<'_>) -> bool {
        let value = node.child_by_field_name("right").filter(|value| value.kind() == "call");
        let called = value.and_then(|call| call.child_by_field_name("function"));
        self.nodes.import_syntax == ImportSyntax::Python
            && called.is_some_and(|called| TYPE_MAKERS.contains(&last_part(self.text_of(called))))
    }

    /// Returns the types of a value that may have several, joined by `|`, in Python and TypeScript. The alias of a union in Python is
    /// read as a value of the union.
    fn union_of(&self, node: Node<'_>, declaration: value_types::ValueDeclaration) -> Option<String> {
        let is_python = self.nodes.import_syntax == ImportSyntax::Python;
        if !is_python && self.nodes.import_syntax != ImportSyntax::JavaScript {
            return None;
        }
        let written = node.child_by_field_name(declaration.2).filter(|_| !declaration.2.is_empty());
        let alias = || {
            let value = node.child_by_field_name(declaration.3).filter(|_| is_python)?;
            let name = self.text_of(node.child_by_field_name(declaration.1)?);
            name.starts_with(char::is_uppercase).then_some(value)
        };
        let union = written.and_then(|written| value_types::union_types(written, self.text));
        let union = union.or_else(|| value_types::union_types(alias()?, self.text));
        union.filter(|union| union.len() <= MAX_NAME_BYTES)
    }

    /// Records a value with the end of the block around it.
    pub(super) fn push_value(&mut self, value: FoundValue<'a>) {
        let mut around = self.path.iter().rev().map(|(node, _)| *node);
        let block = around.find(|node| BLOCKS.contains(&node.kind()));
        let block_end = block.map_or(usize::MAX, |block| block.end_byte());
        self.found.values.push(FoundValue { block_end, ..value });
    }

    /// Returns the expression to which a declaration sets its value, as a path; `None` for a list of several expressions.
    fn value_path(&self, node: Node<'_>, field: &str) -> Option<Cow<'a, str>> {
        let mut value = node.child_by_field_name(field)?;
        if value.kind() == "expression_list" {
            value = value.named_child(0).filter(|_| value.named_child_count() == 1)?;
        }
        // `x = None if c else load()`, `x = a or load()`: the type of the only part that shows one.
        if CHOICES.contains(&value.kind()) {
            let parts = super::node_text::named_children(value).into_iter();
            let mut called = parts.filter(|part| self.nodes.calls.iter().any(|call| call.0 == part.kind()));
            value = called.next().filter(|_| called.next().is_none())?;
        }
        let path = self.root_at_self(self.expression_path(value, MAX_RECEIVER_PARTS)?);
        (path.len() <= MAX_NAME_BYTES).then_some(Cow::Owned(path))
    }

    /// Records the type that a function returns.
    fn add_return_type(&mut self, node: Node<'t>, field: &str) {
        let Some(written) = node.child_by_field_name(field) else { return };
        let Some(of) = value_types::named_type(written, self.text).map(|of| of.to_marked_name()) else {
            return;
        };
        let at = written.start_byte();
        self.push_value(FoundValue::of_type(Cow::Borrowed("()"), of, at));
    }

    /// Returns the name that a declarator or pattern declares, if it declares a single name.
    pub(super) fn value_name(&self, mut node: Node<'_>) -> Option<Cow<'a, str>> {
        for _ in 0..MAX_DECLARATORS {
            let kind = node.kind();
            if self.nodes.names.contains(&kind) {
                return Some(Cow::Borrowed(self.text_of(node)));
            }
            if let Some((_, object, field)) = self.nodes.members.iter().find(|member| member.0 == kind) {
                let is_own = self.is_self_name(self.text_of(node.child_by_field_name(object)?));
                let field = self.text_of(node.child_by_field_name(field)?);
                return is_own.then(|| Cow::Owned(format!("self.{field}")));
            }
            let inner = ["declarator", "name"].iter().find_map(|field| node.child_by_field_name(field));
            node = inner.or_else(|| node.named_child(0).filter(|_| node.named_child_count() == 1))?;
        }
        None
    }

    /// Returns the names that a pattern binds, without types, defaults and keys.
    fn bound_names(&self, pattern: Node<'t>) -> Vec<Node<'t>> {
        self.names_in(pattern, |parent, field| match (parent.kind(), field) {
            (kind, _)
                if NO_PATTERNS.contains(&kind)
                    || self.nodes.members.iter().any(|member| member.0 == kind) =>
            {
                false
            }
            ("pair_pattern", Some("value")) | (_, None) => true,
            // `Order { total: sum }` binds `sum`, and `Order { total }` binds `total`.
            ("field_pattern", Some("name")) => parent.child_by_field_name("pattern").is_none(),
            (_, Some(field)) => !NOT_BOUND.contains(&field),
        })
    }

    /// Returns the name of a parameter; `None` if it has only a type.
    fn parameter_name(&self, node: Node<'t>) -> Option<&'a str> {
        let first = self.bound_names(node).into_iter().find(|name| name.kind() == "identifier");
        first.map(|name| self.text_of(name))
    }
}

/// Returns the type arguments of the receiver of a Go method, which name the type parameters of the method: `(s *Stack[E])`.
fn type_arguments(receiver: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = receiver.walk();
    let mut inner = receiver.named_children(&mut cursor).find_map(|node| node.child_by_field_name("type"))?;
    for _ in 0..MAX_DECLARATORS {
        if inner.kind() == "generic_type" {
            return inner.child_by_field_name("type_arguments");
        }
        inner = inner.named_child(0)?;
    }
    None
}

/// Returns the node with the name of a type parameter of a template; `None` if it has only a default.
fn template_parameter_name(parameter: Node<'_>) -> Option<Node<'_>> {
    if parameter.kind() == "optional_type_parameter_declaration" {
        return parameter.child_by_field_name("name");
    }
    parameter.named_children(&mut parameter.walk()).find(is_type_name)
}

fn is_type_name(node: &Node<'_>) -> bool {
    node.kind() == "type_identifier"
}
