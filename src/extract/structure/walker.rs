//! Walks over the syntax tree of a file and takes note of names, imports, and the types of values.

use std::borrow::Cow;

use tree_sitter::{Node, TreeCursor};

use super::languages::{EMBEDDED, Importing, Nodes};
use super::node_marks::{self, FieldId, NodeMarks};
use super::{
    Found, FoundReceiver, FoundValue, MAX_NAME_BYTES, Walk, arity, constructor_calls, imports, macros,
    value_types,
};
use crate::types::UseRole;

/// Most nodes between a name and the clause of bases that it is in: `extends a.B<C>`.
const MAX_BASE_DEPTH: usize = 5;
/// Most parts of a receiver: longer chains say nothing that is known here.
pub(super) const MAX_RECEIVER_PARTS: usize = 12;
/// Most declarators around a name: pointers, arrays.
const MAX_DECLARATORS: usize = 6;
/// Most nodes of a pattern that are looked at.
const MAX_PATTERN_NODES: usize = 1_000;
/// Fields of a pattern that bind nothing: types, defaults, keys, lengths of arrays, guards.
const NOT_BOUND: [&str; 7] = ["type", "right", "value", "key", "size", "parameters", "condition"];
/// `a` in `const { a } = b`.
const SHORTHAND_PATTERN: &str = "shorthand_property_identifier_pattern";
/// `Type::method` of Java.
const METHOD_REFERENCE: &str = "method_reference";
/// Places that are assigned to and bind nothing: `cache[key] = value`.
const NO_PATTERNS: [&str; 3] = ["subscript", "subscript_expression", "index_expression"];

/// Walks over the tree of a file.
pub(in crate::extract) fn walk<'a>(marks: &'static NodeMarks, text: &'a str, root: Node<'_>) -> Walk<'a> {
    let nodes = marks.nodes();
    let mut walker = Walker { nodes, marks, text, walk: Walk::default(), path: Vec::new(), own: None };
    walker.run(&mut root.walk());
    walker.walk
}

pub(super) struct Walker<'a, 't> {
    pub(super) nodes: &'static Nodes,
    marks: &'static NodeMarks,
    text: &'a str,
    walk: Walk<'a>,
    /// The nodes around the current one, outermost first, each with its field in the one before.
    path: Vec<(Node<'t>, Option<FieldId>)>,
    /// What the receiver of the current method is called, where a method names it, and how deep that method is.
    own: Option<(&'a str, usize)>,
}

impl<'a, 't> Walker<'a, 't> {
    /// Visits the nodes in the order of the text. The tree may be deep: nothing recurses.
    fn run(&mut self, cursor: &mut TreeCursor<'t>) {
        loop {
            let (node, field) = (cursor.node(), cursor.field_id());
            if self.enter(node, field) && cursor.goto_first_child() {
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

    /// Takes note of a node; returns whether there is more inside.
    fn enter(&mut self, node: Node<'t>, field: Option<FieldId>) -> bool {
        if self.own.is_some_and(|(_, depth)| self.path.len() <= depth) {
            self.own = None;
        }
        let marks = self.marks.of_kind(node.kind_id());
        if marks & node_marks::NAME != 0 {
            self.name(node, self.marks.field_name(field));
            return false;
        }
        if marks & node_marks::PACKAGE != 0 {
            self.walk.package = imports::package(self.text_of(node));
            return false;
        }
        if marks & node_marks::IMPORT != 0 {
            let names = imports::imports(self.nodes.importing, node, self.text);
            let is_import = !names.is_empty();
            self.walk.imports.extend(names);
            if is_import {
                self.import_names(node);
                return false;
            }
        }
        if marks & node_marks::DECLARES != 0 {
            self.declaration(node);
        }
        true
    }

    /// Takes note of the names and types that a node declares.
    fn declaration(&mut self, node: Node<'t>) {
        let kind = node.kind();
        // At the top of the file, since an import holds for all of it.
        let is_at_top = self.path.len() == 2;
        if self.nodes.importing == Importing::JavaScript && kind == "variable_declarator" && is_at_top {
            self.walk.imports.extend(imports::required(node, self.text));
        }
        for (_, field) in self.nodes.binders.iter().filter(|(binder, _)| *binder == kind) {
            self.bind(node, field);
        }
        for (_, field) in self.nodes.type_parameters.iter().filter(|(parameter, _)| *parameter == kind) {
            self.type_parameters(node, field);
        }
        if self.nodes.importing == Importing::C {
            self.internal(node);
        }
        for declaration in self.nodes.values.iter().filter(|declaration| declaration.0 == kind) {
            self.values(node, *declaration);
        }
        if let Some((_, field)) = self.nodes.functions.iter().find(|(function, _)| *function == kind) {
            self.returned(node, field);
        }
        if constructor_calls::KINDS.contains(&kind) {
            self.constructor_call(node);
        }
        if self.nodes.callables.contains(&kind) {
            self.walk.arities.extend(arity::of_function(node, self.text));
        }
        if let Some((_, field)) = self.nodes.methods.iter().find(|(method, _)| *method == kind) {
            let receiver = node.child_by_field_name(field).and_then(|receiver| self.first_name(receiver));
            self.own = receiver.map(|name| (name, self.path.len()));
        }
    }

    /// Records the names of type parameters; without a field, the first name is one.
    fn type_parameters(&mut self, node: Node<'t>, field: &str) {
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = match field {
            "" => {
                let mut children = node.named_children(&mut cursor);
                children.find(|child| child.kind() == "type_identifier").into_iter().collect()
            }
            field => node.children_by_field_name(field, &mut cursor).collect(),
        };
        let names: Vec<_> = names.into_iter().map(|name| (self.text_of(name), name.start_byte())).collect();
        self.walk.type_parameters.extend(names);
    }

    /// Records the names that a `static` declaration of C declares.
    fn internal(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let is_static =
            |child: Node<'_>| child.kind() == "storage_class_specifier" && self.text_of(child) == "static";
        if !node.named_children(&mut cursor).any(is_static) {
            return;
        }
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            if let Some(Cow::Borrowed(name)) = self.value_name(declarator) {
                self.walk.internal.push(name);
            }
        }
    }

    fn constructor_call(&mut self, node: Node<'t>) {
        let around = self.path.iter().map(|(node, _)| *node);
        let Some((of, called)) = constructor_calls::constructed(node, around) else { return };
        self.walk.found.push(Found {
            name: self.text_of(of),
            at: called.start_byte(),
            // A constructor is a member with the name of its type, of the type around or of its base.
            receiver: FoundReceiver::Own,
            role: UseRole::Call,
            n_arguments: arity::of_call(node),
        });
    }

    fn name(&mut self, node: Node<'t>, field: Option<&str>) {
        let name = self.text_of(node);
        let Some(&(parent, parent_field)) = self.path.last() else { return };
        let parent_field = self.marks.field_name(parent_field);
        let parent_kind = parent.kind();
        let outer = self.path.len().checked_sub(2).map(|at| self.path[at].0.kind());
        let is_label = self.nodes.labels.iter().any(|(kind, label)| {
            *kind == parent_kind && (label.is_empty() || Some(*label) == field)
                || Some(*kind) == outer && Some(*label) == parent_field && parent.named_child_count() == 1
        });
        // A field of C whose declarator is nested: `int (*read)(void)`.
        let is_label = is_label || node.kind() == "field_identifier" && parent_kind.ends_with("_declarator");
        if is_label || name.is_empty() || name.len() > MAX_NAME_BYTES || self.is_own(name) {
            return;
        }
        let member =
            self.nodes.members.iter().find(|member| member.0 == parent_kind && Some(member.2) == field);
        let is_callee = |kind: &str, field: Option<&str>| {
            self.nodes.calls.iter().any(|call| call.0 == kind && Some(call.1) == field)
        };
        let is_own_call = is_callee(parent_kind, field);
        let (receiver, is_call) = match member {
            None if parent_kind == "token_tree" => macros::use_of(self, parent, node),
            None if parent_kind == METHOD_REFERENCE && parent.named_child(0) != Some(node) => {
                let of = parent.named_child(0);
                (of.map_or(FoundReceiver::None, |of| self.receiver(of, parent_kind)), false)
            }
            Some((_, object, _)) => {
                let is_call = outer.is_some_and(|outer| is_callee(outer, parent_field));
                let object = parent.child_by_field_name(object);
                let receiver =
                    object.map_or(FoundReceiver::None, |object| self.receiver(object, parent_kind));
                (receiver, is_call || is_own_call)
            }
            None => {
                // `new List<T>()`, `new a.List()`
                let is_type = match parent_kind {
                    "generic_type" => parent.named_child(0) == Some(node),
                    "scoped_type_identifier" => node.next_named_sibling().is_none(),
                    _ => false,
                };
                let is_made = is_type && outer.is_some_and(|outer| is_callee(outer, parent_field));
                (FoundReceiver::None, is_own_call || is_made)
            }
        };
        if is_call || !self.nodes.fields.contains(&parent_kind) {
            let role = match is_call {
                true => UseRole::Call,
                false if self.is_base(parent, field) => UseRole::Base,
                false => UseRole::Mention,
            };
            let n_arguments = is_call.then(|| self.n_arguments(if is_own_call { 1 } else { 2 })).flatten();
            self.walk.found.push(Found { name, at: node.start_byte(), receiver, role, n_arguments });
        }
    }

    /// Returns the number of arguments of the call that is so many nodes up, if its language counts them.
    fn n_arguments(&self, n_up: usize) -> Option<u8> {
        let call = self.path.get(self.path.len().checked_sub(n_up)?)?.0;
        (!self.nodes.callables.is_empty()).then(|| arity::of_call(call)).flatten()
    }

    /// Whether a name in a field of the current node is one of those that a type extends or implements.
    fn is_base(&self, parent: Node<'_>, field: Option<&str>) -> bool {
        if self.nodes.members.iter().any(|member| member.0 == parent.kind() && Some(member.1) == field) {
            return false;
        }
        let pairs = self.path.windows(2).rev().map(|pair| (pair[0].0, pair[1]));
        let outwards = pairs.map(|(node, (inner, field))| (node, self.marks.field_name(field), inner.kind()));
        let places = std::iter::once((parent, field, "")).chain(outwards);
        // The arguments of a generic type are no bases, nor is what a method of an interface takes or returns.
        let is_inner =
            |kind: &str| ["argument", "subscript", "method"].iter().any(|part| kind.contains(part));
        let own = places
            .take(MAX_BASE_DEPTH)
            .take_while(|(_, field, kind)| *field == Some("superclasses") || !is_inner(kind));
        own.into_iter().any(|(node, field, _)| {
            let kind = node.kind();
            let is_base =
                |base: &&(&str, &str)| base.0 == kind && (base.1.is_empty() || Some(base.1) == field);
            self.nodes
                .bases
                .iter()
                .find(is_base)
                .is_some_and(|_| kind != EMBEDDED || node.child_by_field_name("name").is_none())
        })
    }

    fn is_own(&self, name: &str) -> bool {
        self.nodes.own.contains(&name) || self.own.is_some_and(|(own, _)| own == name)
    }

    fn receiver(&self, node: Node<'_>, member_kind: &str) -> FoundReceiver {
        // `self::f` is of the module.
        let is_module =
            |path: &str| member_kind == "scoped_identifier" && path.split('.').next() == Some("self");
        match self.path_of(node, MAX_RECEIVER_PARTS) {
            Some(path) if is_module(&path) => FoundReceiver::Named(path),
            Some(path) => self.receiver_of(path),
            None => FoundReceiver::Other,
        }
    }

    pub(super) fn receiver_of(&self, path: String) -> FoundReceiver {
        match self.rooted(path) {
            path if path == "self" => FoundReceiver::Own,
            path if path.len() <= MAX_NAME_BYTES => FoundReceiver::Named(path),
            _ => FoundReceiver::Other,
        }
    }

    /// Begins a path with `self` if it begins with the value or type around.
    fn rooted(&self, path: String) -> String {
        match path.split_once('.') {
            None if self.is_own(&path) => "self".to_owned(),
            Some((first, rest)) if self.is_own(first) => format!("self.{rest}"),
            _ => path,
        }
    }

    /// Returns an expression as a path, its parts joined by `.`, those that are called followed by `()`.
    fn path_of(&self, node: Node<'_>, most: usize) -> Option<String> {
        let most = most.checked_sub(1)?;
        let kind = node.kind();
        let is_leaf = [self.nodes.names, self.nodes.roots].iter().any(|kinds| kinds.contains(&kind));
        if is_leaf || self.nodes.own.contains(&self.text_of(node)) {
            return Some(self.text_of(node).to_owned());
        }
        if let Some((_, object, field)) = self.nodes.members.iter().find(|member| member.0 == kind) {
            let own = self.text_of(node.child_by_field_name(field)?);
            let path = match node.child_by_field_name(object) {
                Some(object) => format!("{}.{own}", self.path_of(object, most)?),
                None => own.to_owned(),
            };
            let is_call = self.nodes.calls.iter().any(|call| call.0 == kind);
            return Some(if is_call { path + "()" } else { path });
        }
        if let Some((_, callee)) = self.nodes.calls.iter().find(|call| call.0 == kind) {
            return Some(format!("{}()", self.path_of(node.child_by_field_name(callee)?, most)?));
        }
        if kind == "try_expression" {
            return Some(format!("{}?", self.path_of(node.named_child(0)?, most)?));
        }
        let is_transparent = self.nodes.transparent.contains(&kind);
        is_transparent.then(|| self.path_of(node.named_child(0)?, most)).flatten()
    }

    /// Records the names inside a field as bound.
    fn bind(&mut self, node: Node<'t>, field: &str) {
        let mut cursor = node.walk();
        let patterns: Vec<Node<'t>> = match field {
            "" => node.named_children(&mut cursor).collect(),
            _ => node.children_by_field_name(field, &mut cursor).collect(),
        };
        let names = patterns.into_iter().flat_map(|pattern| self.bound_names(pattern));
        let bound = names.map(|name| (self.text_of(name), name.start_byte()));
        // In a pattern of Rust, a variant or a constant binds nothing.
        let is_variable =
            |(name, _): &(&str, usize)| node.kind() != "match_arm" || !name.starts_with(char::is_uppercase);
        let mut bound: Vec<_> = bound.filter(is_variable).collect();
        self.walk.bound.append(&mut bound);
    }

    /// Records the values of a declaration that names their type, or sets them to what may have one.
    fn values(&mut self, node: Node<'t>, declaration: value_types::Declaration) {
        let mut cursor = node.walk();
        let mut declared: Vec<Node<'_>> = match declaration.1 {
            "" => node.named_child(0).into_iter().collect(),
            field => node.children_by_field_name(field, &mut cursor).filter(Node::is_named).collect(),
        };
        let of = value_types::of(node, declaration, self.text).map(|of| (of.written(), true));
        let Some((of, is_written)) = of.or_else(|| Some((self.path_of_value(node, declaration.3)?, false)))
        else {
            return;
        };
        if let Some(list) = declared.first().filter(|first| first.kind() == "expression_list") {
            declared = list.named_child(0).into_iter().collect();
        }
        // TypeScript declares fields in the parameters of constructors.
        let is_field = node.named_child(0).is_some_and(|first| first.kind() == "accessibility_modifier");
        for declared in declared {
            let Some(name) = self.value_name(declared) else { continue };
            let at = declared.start_byte();
            let value = |name| FoundValue { name, of: of.clone(), is_written, at };
            if is_field {
                self.walk.values.push(value(Cow::Owned(format!("self.{name}"))));
            }
            self.walk.values.push(value(name));
        }
    }

    /// Returns the expression that a declaration sets its value to, as a path; of several values of one call it is the first.
    fn path_of_value(&self, node: Node<'_>, field: &str) -> Option<Cow<'a, str>> {
        let mut value = node.child_by_field_name(field)?;
        if value.kind() == "expression_list" {
            value = value.named_child(0).filter(|_| value.named_child_count() == 1)?;
        }
        let path = self.rooted(self.path_of(value, MAX_RECEIVER_PARTS)?);
        (path.len() <= MAX_NAME_BYTES).then_some(Cow::Owned(path))
    }

    /// Records the type that a function returns.
    fn returned(&mut self, node: Node<'t>, field: &str) {
        let Some(written) = node.child_by_field_name(field) else { return };
        let Some(of) = value_types::named(written, self.text).map(value_types::Named::written) else {
            return;
        };
        let at = written.start_byte();
        self.walk.values.push(FoundValue { name: Cow::Borrowed("()"), of, is_written: true, at });
    }

    /// Returns the name that a declarator or pattern declares, if it is one.
    fn value_name(&self, mut node: Node<'_>) -> Option<Cow<'a, str>> {
        for _ in 0..MAX_DECLARATORS {
            let kind = node.kind();
            if self.nodes.names.contains(&kind) {
                return Some(Cow::Borrowed(self.text_of(node)));
            }
            if let Some((_, object, field)) = self.nodes.members.iter().find(|member| member.0 == kind) {
                let is_own = self.is_own(self.text_of(node.child_by_field_name(object)?));
                let field = self.text_of(node.child_by_field_name(field)?);
                return is_own.then(|| Cow::Owned(format!("self.{field}")));
            }
            let inner = ["declarator", "name"].iter().find_map(|field| node.child_by_field_name(field));
            let only = || node.named_child(0).filter(|_| node.named_child_count() == 1);
            node = inner.or_else(only)?;
        }
        None
    }

    fn import_names(&mut self, node: Node<'t>) {
        for name in self.names_in(node, |_, _| true) {
            let found = Found {
                name: self.text_of(name),
                at: name.start_byte(),
                receiver: FoundReceiver::Import,
                role: UseRole::Mention,
                n_arguments: None,
            };
            self.walk.found.push(found);
        }
    }

    /// Returns the names that a pattern binds: none of types, defaults and keys.
    fn bound_names(&self, pattern: Node<'t>) -> Vec<Node<'t>> {
        let is_member = |kind: &str| self.nodes.members.iter().any(|member| member.0 == kind);
        self.names_in(pattern, |parent, field| match (parent.kind(), field) {
            (kind, _) if NO_PATTERNS.contains(&kind) || is_member(kind) => false,
            ("pair_pattern", Some("value")) | (_, None) => true,
            (_, Some(field)) => !NOT_BOUND.contains(&field),
        })
    }

    /// Returns the names inside a node, in the order of the text. `enters` says which children are looked into, by the node around
    /// and the field.
    fn names_in(&self, node: Node<'t>, enters: impl Fn(Node<'_>, Option<&str>) -> bool) -> Vec<Node<'t>> {
        let (mut open, mut found) = (vec![node], Vec::new());
        for _ in 0..MAX_PATTERN_NODES {
            let Some(node) = open.pop() else { break };
            let is_name = self.marks.of_kind(node.kind_id()) & node_marks::NAME != 0;
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

    /// Returns what a parameter is called; nothing if it has only a type.
    fn first_name(&self, node: Node<'t>) -> Option<&'a str> {
        let first = self.bound_names(node).into_iter().find(|name| name.kind() == "identifier");
        first.map(|name| self.text_of(name))
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}
