//! Walks over the syntax tree of a file and takes note of names, imports, and the types of values.

use std::borrow::Cow;

use tree_sitter::{Node, TreeCursor};

use super::languages::{EMBEDDED, Nodes, nodes};
use super::{Found, FoundReceiver, FoundValue, MAX_NAME_BYTES, Walk, imports, macros, value_types};
use crate::extract::lang::Language;
use crate::types::UseRole;

/// Most nodes between a name and the clause of bases that it is in: `extends a.B<C>`.
const MAX_BASE_DEPTH: usize = 5;
/// Most parts of a receiver: longer chains say nothing that is known here.
pub(super) const MAX_RECEIVER_PARTS: usize = 12;
/// Most declarators around a name: pointers, arrays.
const MAX_DECLARATORS: usize = 6;
/// Most nodes of a pattern that are looked at.
const MAX_PATTERN_NODES: usize = 1_000;

/// Walks over the tree of a file; nothing for a language whose nodes are not known here.
pub(in crate::extract) fn walk<'a>(language: &Language, text: &'a str, root: Node<'_>) -> Option<Walk<'a>> {
    let nodes = nodes(language.name)?;
    let mut walker = Walker { nodes, text, walk: Walk::default(), path: Vec::new(), own: None };
    walker.run(&mut root.walk());
    Some(walker.walk)
}

pub(super) struct Walker<'a, 't> {
    pub(super) nodes: &'static Nodes,
    text: &'a str,
    walk: Walk<'a>,
    /// The nodes around the current one, outermost first, each with its field in the one before.
    path: Vec<(Node<'t>, Option<&'t str>)>,
    /// What the receiver of the current method is called, where a method names it, and how deep that method is.
    own: Option<(&'a str, usize)>,
}

impl<'a, 't> Walker<'a, 't> {
    /// Visits the nodes in the order of the text. The tree may be deep: nothing recurses.
    fn run(&mut self, cursor: &mut TreeCursor<'t>) {
        loop {
            let (node, field) = (cursor.node(), cursor.field_name());
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
    fn enter(&mut self, node: Node<'t>, field: Option<&'t str>) -> bool {
        let kind = node.kind();
        if !node.is_named() {
            return false;
        }
        if self.own.is_some_and(|(_, depth)| self.path.len() <= depth) {
            self.own = None;
        }
        if self.nodes.names.contains(&kind) {
            self.name(node, field);
            return false;
        }
        if self.nodes.packages.contains(&kind) {
            self.walk.package = imports::package(self.text_of(node));
            return false;
        }
        if self.nodes.imports.contains(&kind) {
            let names = imports::imports(self.nodes.importing, node, self.text);
            let is_import = !names.is_empty();
            self.walk.imports.extend(names);
            if is_import {
                self.import_names(node);
                return false;
            }
        }
        for (_, field) in self.nodes.binders.iter().filter(|(binder, _)| *binder == kind) {
            self.bind(node, field);
        }
        for declaration in self.nodes.values.iter().filter(|declaration| declaration.0 == kind) {
            self.values(node, *declaration);
        }
        if let Some((_, field)) = self.nodes.functions.iter().find(|(function, _)| *function == kind) {
            self.returned(node, field);
        }
        if let Some((_, field)) = self.nodes.methods.iter().find(|(method, _)| *method == kind) {
            let receiver = node.child_by_field_name(field).and_then(|receiver| self.first_name(receiver));
            self.own = receiver.map(|name| (name, self.path.len()));
        }
        true
    }

    fn name(&mut self, node: Node<'t>, field: Option<&'t str>) {
        let name = self.text_of(node);
        let Some(&(parent, parent_field)) = self.path.last() else { return };
        let parent_kind = parent.kind();
        let outer = self.path.len().checked_sub(2).map(|at| self.path[at].0.kind());
        let is_label = self.nodes.labels.iter().any(|(kind, label)| {
            *kind == parent_kind && Some(*label) == field
                || Some(*kind) == outer && Some(*label) == parent_field && parent.named_child_count() == 1
        });
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
            Some((_, object, _)) => {
                let is_call = outer.is_some_and(|outer| is_callee(outer, parent_field));
                let object = parent.child_by_field_name(object);
                let receiver =
                    object.map_or(FoundReceiver::None, |object| self.receiver(object, parent_kind));
                (receiver, is_call || is_own_call)
            }
            None => (FoundReceiver::None, is_own_call),
        };
        if is_call || !self.nodes.fields.contains(&parent_kind) {
            let role = match is_call {
                true => UseRole::Call,
                false if self.is_base(parent, field) => UseRole::Base,
                false => UseRole::Mention,
            };
            self.walk.found.push(Found { name, at: node.start_byte(), receiver, role });
        }
    }

    /// Whether a name in a field of the current node is one of those that a type extends or implements.
    fn is_base(&self, parent: Node<'_>, field: Option<&str>) -> bool {
        if self.nodes.members.iter().any(|member| member.0 == parent.kind() && Some(member.1) == field) {
            return false;
        }
        let outwards = self.path.windows(2).rev().map(|pair| (pair[0].0, pair[1].1, pair[1].0.kind()));
        let places = std::iter::once((parent, field, "")).chain(outwards);
        // The arguments of a generic type are no bases.
        let own = places.take(MAX_BASE_DEPTH).take_while(|(_, field, kind)| {
            *field == Some("superclasses") || !kind.contains("argument") && *kind != "subscript"
        });
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
    fn bind(&mut self, node: Node<'_>, field: &str) {
        let mut cursor = node.walk();
        let patterns: Vec<Node<'_>> = match field {
            "" => node.named_children(&mut cursor).collect(),
            _ => node.children_by_field_name(field, &mut cursor).collect(),
        };
        for pattern in patterns {
            self.each_name(pattern, |walker, name| {
                let text = walker.text_of(name);
                walker.walk.bound.push((text, name.start_byte()));
            });
        }
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

    fn import_names(&mut self, node: Node<'_>) {
        self.each_name(node, |walker, name| {
            let found = Found {
                name: walker.text_of(name),
                at: name.start_byte(),
                receiver: FoundReceiver::Import,
                role: UseRole::Mention,
            };
            walker.walk.found.push(found);
        });
    }

    /// Calls `see` with the names of a pattern: not with members, types or calls inside.
    fn each_name(&mut self, node: Node<'_>, mut see: impl FnMut(&mut Self, Node<'_>)) {
        let mut open = vec![node];
        let mut n_seen = 0;
        while let Some(node) = open.pop() {
            n_seen += 1;
            let kind = node.kind();
            if self.nodes.names.contains(&kind) {
                see(self, node);
                continue;
            }
            let is_other = self.nodes.members.iter().any(|member| member.0 == kind) || kind.contains("type");
            if n_seen > MAX_PATTERN_NODES
                || is_other && !self.nodes.imports.is_empty() && kind != "scoped_identifier"
            {
                continue;
            }
            let mut cursor = node.walk();
            let mut inner: Vec<_> = node.named_children(&mut cursor).collect();
            inner.reverse();
            open.append(&mut inner);
        }
    }

    /// Returns what a parameter is called; nothing if it has only a type.
    fn first_name(&mut self, node: Node<'_>) -> Option<&'a str> {
        let mut first = None;
        self.each_name(node, |walker, name| {
            if name.kind() == "identifier" {
                first.get_or_insert(walker.text_of(name));
            }
        });
        first
    }

    pub(super) fn text_of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}
