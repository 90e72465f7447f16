//! Walks over the syntax tree of a file and records names and imports.

use std::borrow::Cow;
use std::collections::HashSet;

use memod_base::types::UseRole;
use tree_sitter::{Node, TreeCursor};

use super::languages::{ALIASES, FIELD_DECLARATION, ImportSyntax, JAVASCRIPT_VALUES, JSX_TAGS, NodeKinds};
use super::node_marks::{self, FieldId, NodeKindMarks};
use super::python_names::PytestNames;
use crate::components::ComponentFormat;

use super::{
    FoundNames, FoundReceiver, FoundUse, MAX_NAME_BYTES, SCOPED_PATH, arity, imports, javascript_imports,
    macros,
};

/// Most nodes between a name and the clause of bases that it is in: `extends a.B<C>`.
const MAX_BASE_DEPTH: usize = 5;
/// Most parts of a receiver: longer chains cannot be resolved.
pub(super) const MAX_RECEIVER_PARTS: usize = 12;
/// Most nodes of a pattern that are read.
const MAX_PATTERN_NODES: usize = 1_000;
/// Kind of the node `a` in `const { a } = b`.
pub(super) const SHORTHAND_PATTERN: &str = "shorthand_property_identifier_pattern";
/// Kind of the node `a` in `{ a }`.
const SHORTHAND_PROPERTY: &str = "shorthand_property_identifier";
/// Kinds of nodes in which `::` is between two names.
const SCOPED_MEMBERS: [&str; 3] = ["qualified_identifier", "scoped_identifier", "scoped_type_identifier"];
/// Kinds of the declarations that give a type another name in TypeScript, Rust and Go.
const TYPE_ALIASES: [&str; 3] = ["type_alias", "type_alias_declaration", "type_item"];
/// Expressions for an element of a list.
const INDEXES: [&str; 4] = ["array_access", "index_expression", "subscript", "subscript_expression"];
/// Functions that return their argument.
const SAME: [&str; 3] = ["std::forward", "std::move", "std::ref"];
/// Kind of the node `Type::method` in Java.
const METHOD_REFERENCE: &str = "method_reference";

/// Functions of Svelte that begin with `$` and are no stores.
const RUNES: [&str; 7] = ["state", "derived", "effect", "props", "bindable", "inspect", "host"];

/// Walks over the syntax tree of a file, and returns the names, imports and values in it.
/// `component` is the format of a component.
pub(crate) fn walk_tree<'a>(
    marks: &'static NodeKindMarks,
    text: &'a str,
    root: Node<'_>,
    component: Option<ComponentFormat>,
) -> FoundNames<'a> {
    let nodes = marks.node_kinds();
    let mut walker = TreeWalker {
        nodes,
        marks,
        text,
        found: FoundNames::default(),
        path: Vec::new(),
        own_receiver: None,
        component,
        imported_patterns: HashSet::new(),
        pytest: PytestNames::default(),
        called_values: Vec::new(),
    };
    walker.found.has_free_enumerators = nodes.import_syntax == ImportSyntax::C;
    walker.visit_nodes(&mut root.walk());
    if nodes.import_syntax == ImportSyntax::Python {
        walker.finish_python_names();
    }
    walker.found
}

/// Visits the nodes of one syntax tree, and records what they declare and use.
pub(super) struct TreeWalker<'a, 't> {
    pub(super) nodes: &'static NodeKinds,
    marks: &'static NodeKindMarks,
    pub(super) text: &'a str,
    pub(super) found: FoundNames<'a>,
    /// The nodes around the current one, outermost first, each with its field in the one before.
    pub(super) path: Vec<(Node<'t>, Option<FieldId>)>,
    /// The name of the current method's receiver, if the method names it, and the depth of the method.
    pub(super) own_receiver: Option<(&'a str, usize)>,
    pub(super) component: Option<ComponentFormat>,
    /// Patterns that bind imported names, which are no variables.
    pub(super) imported_patterns: HashSet<usize>,
    pub(super) pytest: PytestNames<'a>,
    /// Callees of Python as paths, with their bytes.
    pub(super) called_values: Vec<(String, usize)>,
}

impl<'a, 't> TreeWalker<'a, 't> {
    /// Visits the nodes in the order of the text. The tree may be deep: nothing recurses.
    fn visit_nodes(&mut self, cursor: &mut TreeCursor<'t>) {
        loop {
            let (node, field) = (cursor.node(), cursor.field_id());
            if self.enter_node(node, field) && cursor.goto_first_child() {
                self.path.push((node, field));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.path.pop();
            }
        }
    }

    /// Records a node; returns whether to read the nodes inside.
    fn enter_node(&mut self, node: Node<'t>, field: Option<FieldId>) -> bool {
        if self.own_receiver.is_some_and(|(_, depth)| self.path.len() <= depth) {
            self.own_receiver = None;
        }
        let marks = self.marks.marks_of(node.kind_id());
        if marks & node_marks::NAME != 0 {
            self.add_use(node, self.marks.field_name(field));
            return false;
        }
        if marks & node_marks::PACKAGE != 0 {
            self.found.package = imports::package_name(self.text_of(node));
            return false;
        }
        if marks & node_marks::IMPORT != 0 {
            let mut names = imports::read_imports(self.nodes.import_syntax, node, self.text);
            let scope = self.import_scope(node);
            names.iter_mut().for_each(|import| import.scope_lines = scope);
            if self.nodes.import_syntax == ImportSyntax::JavaScript {
                self.found.exports.extend(javascript_imports::read_exports(node, self.text));
            }
            let is_import = !names.is_empty();
            self.found.imports.extend(names);
            if is_import {
                self.add_import_names(node);
                return false;
            }
        }
        if marks & node_marks::DECLARES != 0 {
            self.add_declaration(node);
        }
        true
    }

    fn add_use(&mut self, node: Node<'t>, field: Option<&str>) {
        let (name, at) = self.used_name(node);
        let Some(&(parent, parent_field)) = self.path.last() else { return };
        let parent_field = self.marks.field_name(parent_field);
        let parent_kind = parent.kind();
        let outer = self.path.len().checked_sub(2).map(|at| self.path[at].0.kind());
        let is_label = self.nodes.labels.iter().any(|(kind, label)| {
            *kind == parent_kind && (label.is_empty() || Some(*label) == field)
                || Some(*kind) == outer && Some(*label) == parent_field && self.is_inner_label(parent)
        });
        // A field of C whose declarator is nested: `int (*read)(void)`.
        let is_label = is_label || node.kind() == "field_identifier" && parent_kind.ends_with("_declarator");
        // `<title>` is an element of the page, `<Title>` a component.
        let is_label = is_label || JSX_TAGS.contains(&parent_kind) && name.starts_with(char::is_lowercase);
        if is_label {
            self.add_field_key(node, parent_kind);
            return;
        }
        if name.is_empty() || name.len() > MAX_NAME_BYTES || self.is_self_name(name) {
            return;
        }
        if parent_kind == "token_tree" && self.add_field_among_tokens(parent, node) {
            return;
        }
        self.add_shorthand_field(node, parent_kind);
        let member =
            self.nodes.members.iter().find(|member| member.0 == parent_kind && Some(member.2) == field);
        let is_own_call = self.is_callee(parent_kind, field);
        let (receiver, is_call) = match member {
            None if parent_kind == "token_tree" => macros::receiver_among_tokens(self, parent, node),
            None if parent_kind == METHOD_REFERENCE && parent.named_child(0) != Some(node) => {
                let object = parent.named_child(0);
                (object.map_or(FoundReceiver::None, |object| self.find_receiver(object, parent_kind)), false)
            }
            Some((_, object, _)) => {
                let is_call = outer.is_some_and(|outer| self.is_callee(outer, parent_field));
                let object = parent.child_by_field_name(object);
                let receiver =
                    object.map_or(FoundReceiver::None, |object| self.find_receiver(object, parent_kind));
                (receiver, is_call || is_own_call)
            }
            None => {
                // `new List<T>()`, `new a.List()`, `largest<T>()`
                let is_type = match parent_kind {
                    "template_function" => field == Some("name"),
                    "generic_type" => parent.named_child(0) == Some(node),
                    "scoped_type_identifier" => node.next_named_sibling().is_none(),
                    _ => false,
                };
                let is_made = is_type && outer.is_some_and(|outer| self.is_callee(outer, parent_field));
                (self.package_of_type(node, parent), is_own_call || is_made)
            }
        };
        let role = match is_call {
            true => UseRole::Call,
            false if member.is_some() && self.is_field_access(parent_kind, name) => UseRole::Field,
            false => match self.base_clause(parent, field) {
                Some(clause) if ALIASES.contains(&clause) => UseRole::Alias,
                Some(_) => UseRole::Base,
                None if self.is_alias_target(node, parent, field) => UseRole::Alias,
                None => UseRole::Mention,
            },
        };
        if node.kind() == SHORTHAND_PROPERTY
            && let Some(of_literal) = self.receiver_of_literal(1)
        {
            self.add_field_use(node, of_literal);
        }
        let n_arguments = is_call.then(|| self.argument_count(if is_own_call { 1 } else { 2 })).flatten();
        let is_value = self.nodes.import_syntax == ImportSyntax::JavaScript
            && (member.is_some() || is_javascript_value(node, parent, field));
        self.found.uses.push(FoundUse {
            name: Cow::Borrowed(name),
            at,
            receiver,
            role,
            n_arguments,
            is_value,
        });
    }

    /// Returns what qualifies a type of Java as a receiver: `a` of `a.Order`.
    fn package_of_type(&self, name: Node<'_>, parent: Node<'_>) -> FoundReceiver {
        let is_last = parent.kind() == "scoped_type_identifier" && name.next_named_sibling().is_none();
        let package = name.prev_named_sibling().filter(|_| is_last);
        match package.map(|package| self.text_of(package)) {
            Some(path)
                if self.nodes.import_syntax == ImportSyntax::Java && !path.contains(['<', '@', ' ']) =>
            {
                FoundReceiver::Named(path.to_owned())
            }
            _ => FoundReceiver::None,
        }
    }

    /// Returns whether a member expression of a kind means a field. In Java, it may mean a type.
    fn is_field_access(&self, kind: &str, name: &str) -> bool {
        let may_be_type = kind == "field_access" && name.starts_with(char::is_uppercase);
        self.nodes.fields.contains(&kind) && !may_be_type
    }

    /// Returns the name that a node means, with its byte: in Svelte, `$count` is the value of the store `count`.
    fn used_name(&self, node: Node<'_>) -> (&'a str, usize) {
        let (name, at) = (self.text_of(node), node.start_byte());
        let store = name.strip_prefix('$').filter(|store| {
            self.component == Some(ComponentFormat::Svelte)
                && store.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !RUNES.contains(store)
        });
        store.map_or((name, at), |store| (store, at + 1))
    }

    /// Returns whether `field` of a node of this kind has the callee of a call.
    fn is_callee(&self, kind: &str, field: Option<&str>) -> bool {
        self.nodes.calls.iter().any(|call| call.0 == kind && Some(call.1) == field)
    }

    pub(super) fn field_name(&self, field: Option<FieldId>) -> Option<&str> {
        self.marks.field_name(field)
    }

    /// Returns the number of arguments of the call `n_up` nodes above, if its language counts them.
    fn argument_count(&self, n_up: usize) -> Option<u8> {
        let call = self.path.get(self.path.len().checked_sub(n_up)?)?.0;
        (!self.nodes.callables.is_empty()).then(|| arity::count_arguments(call)).flatten()
    }

    /// Returns the kind of the clause that makes a name in a field of the current node the base of a type; `None` if it is no base.
    fn base_clause(&self, parent: Node<'_>, field: Option<&str>) -> Option<&'static str> {
        if self.nodes.members.iter().any(|member| member.0 == parent.kind() && Some(member.1) == field) {
            return None;
        }
        let pairs = self.path.windows(2).rev().map(|pair| (pair[0].0, pair[1]));
        let outwards = pairs.map(|(node, (inner, field))| (node, self.marks.field_name(field), inner.kind()));
        let places = std::iter::once((parent, field, "")).chain(outwards);
        // The arguments of a generic type are no bases; neither are the parameters and results of the methods of an
        // interface.
        let is_inner =
            |kind: &str| ["argument", "subscript", "method"].iter().any(|part| kind.contains(part));
        let own = places
            .take(MAX_BASE_DEPTH)
            .take_while(|(_, field, kind)| *field == Some("superclasses") || !is_inner(kind));
        own.into_iter().find_map(|(node, field, _)| {
            let kind = node.kind();
            self.nodes
                .bases
                .iter()
                .find(|base| base.0 == kind && (base.1.is_empty() || Some(base.1) == field))
                .filter(|_| kind != FIELD_DECLARATION || node.child_by_field_name("name").is_none())
                .map(|base| base.0)
        })
    }

    /// Returns whether a name is the type that a declaration gives another name: `type X = a.Order`, and not one of its arguments.
    fn is_alias_target(&self, name: Node<'_>, parent: Node<'_>, field: Option<&str>) -> bool {
        let (mut inner, mut around, mut field) = (name, parent, field);
        for n_up in 2..=MAX_BASE_DEPTH {
            let kind = around.kind();
            if TYPE_ALIASES.contains(&kind) {
                return matches!(field, Some("type" | "value"));
            }
            let is_own_name = match kind {
                "generic_type" => around.named_child(0) == Some(inner),
                _ => self.nodes.members.iter().any(|member| member.0 == kind && Some(member.2) == field),
            };
            let Some((outer, _)) = self.path.len().checked_sub(n_up).map(|at| self.path[at]) else { break };
            if !is_own_name {
                break;
            }
            field = self.marks.field_name(self.path[self.path.len() - n_up + 1].1);
            (inner, around) = (around, outer);
        }
        false
    }

    pub(super) fn is_self_name(&self, name: &str) -> bool {
        self.nodes.self_names.contains(&name) || self.own_receiver.is_some_and(|(own, _)| own == name)
    }

    pub(super) fn find_receiver(&self, node: Node<'_>, member_kind: &str) -> FoundReceiver {
        // In `self::f`, `self` is the module.
        let is_module =
            |path: &str| member_kind == "scoped_identifier" && path.split('.').next() == Some("self");
        match self.expression_path(node, MAX_RECEIVER_PARTS) {
            Some(path) if is_module(&path) => FoundReceiver::Named(path),
            Some(path) if SCOPED_MEMBERS.contains(&member_kind) && !path.contains('.') => {
                self.receiver_of_scoped(path)
            }
            Some(path) => self.receiver_of_path(path),
            None => FoundReceiver::Other,
        }
    }

    /// Returns the receiver for a path that the text writes with `::`.
    pub(super) fn receiver_of_scoped(&self, path: String) -> FoundReceiver {
        match self.receiver_of_path(path) {
            FoundReceiver::Named(path) if !path.starts_with(SCOPED_PATH) => {
                FoundReceiver::Named(format!("{SCOPED_PATH}{path}"))
            }
            other => other,
        }
    }

    pub(super) fn receiver_of_path(&self, path: String) -> FoundReceiver {
        match self.root_at_self(path) {
            path if path == "self" => FoundReceiver::Own,
            path if path.len() <= MAX_NAME_BYTES => FoundReceiver::Named(path),
            _ => FoundReceiver::Other,
        }
    }

    /// Replaces the start of a path by `self` if the start names the enclosing value or type.
    pub(super) fn root_at_self(&self, path: String) -> String {
        match path.split_once('.') {
            None if self.is_self_name(&path) => "self".to_owned(),
            Some((first, rest)) if self.is_self_name(first) => format!("self.{rest}"),
            _ => path,
        }
    }

    /// Returns an expression as a path: its parts joined by `.`, with `()` after calls; `None` if the expression is no path
    /// of at most `most` parts.
    pub(super) fn expression_path(&self, node: Node<'_>, most: usize) -> Option<String> {
        let most = most.checked_sub(1)?;
        let kind = node.kind();
        let is_leaf = [self.nodes.names, self.nodes.path_roots].iter().any(|kinds| kinds.contains(&kind));
        if is_leaf || self.nodes.self_names.contains(&self.text_of(node)) {
            return Some(self.text_of(node).to_owned());
        }
        if let Some((_, object, field)) = self.nodes.members.iter().find(|member| member.0 == kind) {
            let own = self.text_of(node.child_by_field_name(field)?);
            let path = match node.child_by_field_name(object) {
                Some(object) => {
                    let object = self.expression_path(object, most)?;
                    let is_scoped = SCOPED_MEMBERS.contains(&kind) && !object.contains('.');
                    let is_name =
                        is_scoped && !object.starts_with(SCOPED_PATH) && !self.is_self_name(&object);
                    if is_name { format!("{SCOPED_PATH}{object}.{own}") } else { format!("{object}.{own}") }
                }
                None => own.to_owned(),
            };
            let is_call = self.nodes.calls.iter().any(|call| call.0 == kind);
            return Some(if is_call { path + "()" } else { path });
        }
        if self.nodes.import_syntax == ImportSyntax::JavaScript
            && let Some(module) = javascript_imports::loaded_module(node, self.text)
        {
            return Some(javascript_imports::module_key(module));
        }
        if let Some((_, callee)) = self.nodes.calls.iter().find(|call| call.0 == kind) {
            let callee_text = node.child_by_field_name(callee).map_or("", |callee| self.text_of(callee));
            if self.nodes.import_syntax == ImportSyntax::C && SAME.contains(&callee_text) {
                let argument = node.child_by_field_name("arguments").and_then(|list| list.named_child(0))?;
                return self.expression_path(argument, most);
            }
            return Some(format!("{}()", self.expression_path(node.child_by_field_name(callee)?, most)?));
        }
        if kind == "try_expression" {
            return Some(format!("{}?", self.expression_path(node.named_child(0)?, most)?));
        }
        if let Some(path) = self.path_of_index(node, most) {
            return Some(path);
        }
        // `(a = b).c` is a member of `b`.
        if kind == "assignment_expression" {
            return self.expression_path(node.child_by_field_name("right")?, most);
        }
        // `x as Cart` has the members of `Cart`, whatever `x` has.
        if kind == "as_expression"
            && let Some(of_type) = node.named_child(1).and_then(|written| self.value_of_type(written))
        {
            return Some(of_type);
        }
        let is_transparent = self.nodes.transparent.contains(&kind);
        is_transparent.then(|| self.expression_path(node.named_child(0)?, most)).flatten()
    }

    /// Returns an element of a list as a path, `orders[]`, and the value at a key of JavaScript as a member.
    fn path_of_index(&self, node: Node<'_>, most: usize) -> Option<String> {
        if !INDEXES.contains(&node.kind()) {
            return None;
        }
        let path = self.expression_path(node.named_child(0)?, most)?;
        let key = node.child_by_field_name("index").filter(|key| key.kind() == "string");
        match key.and_then(|key| key.named_child(0)) {
            Some(key) if self.nodes.import_syntax == ImportSyntax::JavaScript => {
                Some(format!("{path}.{}", self.text_of(key)))
            }
            _ => Some(path + "[]"),
        }
    }

    fn add_import_names(&mut self, node: Node<'t>) {
        // A module of Python is a file, and no definition.
        let is_python = self.nodes.import_syntax == ImportSyntax::Python;
        for name in self.names_in(node, |_, field| !is_python || field != Some("module_name")) {
            self.add_import_name(name);
        }
    }

    pub(super) fn add_import_name(&mut self, name: Node<'t>) {
        let found = FoundUse {
            name: Cow::Borrowed(self.text_of(name)),
            at: name.start_byte(),
            receiver: FoundReceiver::Import,
            role: UseRole::Mention,
            n_arguments: None,
            is_value: false,
        };
        self.found.uses.push(found);
    }

    /// Returns the names inside of a node, in the order of the text. `enters` decides whether a child is read, by the child's
    /// parent and field.
    pub(super) fn names_in(
        &self,
        node: Node<'t>,
        enters: impl Fn(Node<'_>, Option<&str>) -> bool,
    ) -> Vec<Node<'t>> {
        let (mut open, mut found) = (vec![node], Vec::new());
        for _ in 0..MAX_PATTERN_NODES {
            let Some(node) = open.pop() else { break };
            let is_name = self.marks.marks_of(node.kind_id()) & node_marks::NAME != 0;
            if is_name || node.kind() == SHORTHAND_PATTERN {
                found.push(node);
                continue;
            }
            let mut cursor = node.walk();
            let n_before = open.len();
            let mut has_more = cursor.goto_first_child();
            while has_more {
                if cursor.node().is_named() && enters(node, cursor.field_name()) {
                    open.push(cursor.node());
                }
                has_more = cursor.goto_next_sibling();
            }
            open[n_before..].reverse();
        }
        found
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// Returns whether a name of JavaScript or TypeScript is a value. The grammar reads `sql<Row>` before a template string as a
/// comparison, so a name after `<` may be a type.
fn is_javascript_value(name: Node<'_>, parent: Node<'_>, field: Option<&str>) -> bool {
    let operator = parent.child_by_field_name("operator").filter(|_| field == Some("right"));
    let may_be_argument = operator.is_some_and(|operator| operator.kind() == "<");
    JAVASCRIPT_VALUES.contains(&name.kind()) && !may_be_argument
}
