//! Reads the attributes of Python that strings and keywords name, and the calls of values.
//!
//! `getattr(x, "name")` and `mock.patch("pkg.mod.name")` name attributes, and a call of a value calls `__call__` of its type.

use std::borrow::Cow;

use memod_base::types::{UseRole, last_part};
use tree_sitter::Node;

use super::languages::ImportSyntax;
use super::node_text::{create_import, field_text, lines_of, named_children};
use super::python_names::string_content;
use super::walker::{MAX_RECEIVER_PARTS, TreeWalker};
use super::{FoundReceiver, FoundUse, FoundValue, MAX_NAME_BYTES};

/// Functions whose second argument is the name of an attribute of the first.
const ATTRIBUTE_CALLS: [&str; 4] = ["getattr", "setattr", "hasattr", "delattr"];
/// Last names of methods of fakes and spies, which take a dotted path, or an object and the name of an attribute.
const FAKING_CALLS: [&str; 6] = ["setattr", "delattr", "patch", "object", "dict", "spy"];
/// Functions that return a function which reads the attributes that their arguments name.
const GETTERS: [&str; 2] = ["attrgetter", "methodcaller"];
/// Functions that copy a value with other fields: of `dataclasses` and `copy`, of attrs, of named tuples.
const COPYING_CALLS: [&str; 3] = ["replace", "evolve", "_replace"];
/// Kinds of nodes around a name that a pattern of `match` binds.
const CAPTURING: [&str; 3] = ["case_pattern", "keyword_pattern", "union_pattern"];

/// Values of Python that have no members of a type of the repository.
const LITERALS: [&str; 10] =
    ["dictionary", "false", "float", "integer", "list", "none", "set", "string", "true", "tuple"];

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records the attributes that a call names in strings, and a call that may be of a value.
    pub(super) fn add_python_call(&mut self, call: Node<'t>) {
        let Some(called) = call.child_by_field_name("function") else { return };
        if let Some(path) = self.expression_path(called, MAX_RECEIVER_PARTS) {
            let path = self.root_at_self(path);
            if path.len() <= MAX_NAME_BYTES {
                self.called_values.push((path, called.start_byte()));
            }
        }
        let written = self.text_of(called);
        let last = last_part(written);
        let arguments = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
        let (first, second) = (arguments.first().copied(), arguments.get(1).copied());
        if written == "isinstance" {
            self.add_isinstance(&arguments);
            return;
        }
        let is_faking = FAKING_CALLS.contains(&last) && (written.contains('.') || last == "patch");
        if ATTRIBUTE_CALLS.contains(&written) || is_faking {
            match (first.and_then(string_content), first.zip(second.and_then(string_content))) {
                (Some(dotted), _) if is_faking => self.add_dotted_name(call, dotted),
                (None, Some((object, name))) => {
                    let receiver = self.find_receiver(object, "");
                    self.add_string_use(name, receiver);
                }
                _ => {}
            }
        } else if GETTERS.contains(&last) {
            for name in arguments.into_iter().filter_map(string_content) {
                self.add_string_use(name, FoundReceiver::Other);
            }
        }
    }

    /// Returns the value whose fields the keywords of a call set: the type that a call creates, or the value that it copies.
    pub(super) fn receiver_of_keywords(&self, call: Node<'t>) -> Option<FoundReceiver> {
        let called = call.child_by_field_name("function")?;
        let last = last_part(self.text_of(called));
        if COPYING_CALLS.contains(&last) {
            let first = named_children(call.child_by_field_name("arguments")?).into_iter().next()?;
            let copied = if last == "_replace" { called.child_by_field_name("object")? } else { first };
            return (copied.kind() != "keyword_argument").then(|| self.find_receiver(copied, ""));
        }
        last.starts_with(char::is_uppercase).then(|| self.receiver_of_created(called))
    }

    /// Returns the value that a call of a type creates as a receiver, so that fields of its bases are found.
    pub(super) fn receiver_of_created(&self, of_type: Node<'t>) -> FoundReceiver {
        let is_dotted = of_type.kind() == "dotted_name";
        let path = match is_dotted {
            true => Some(self.text_of(of_type).to_owned()),
            false => self.expression_path(of_type, MAX_RECEIVER_PARTS),
        };
        match path {
            Some(path) if self.is_self_name(&path) => FoundReceiver::Own,
            Some(path) if path.len() + 2 <= MAX_NAME_BYTES => {
                FoundReceiver::Named(format!("{}()", self.root_at_self(path)))
            }
            _ => FoundReceiver::Other,
        }
    }

    /// Records the names that a pattern of `match` binds.
    pub(super) fn add_captured_name(&mut self, node: Node<'t>) {
        let around = self.path.last().map(|(around, _)| around.kind()).unwrap_or_default();
        let name = match node.kind() {
            "dotted_name" if CAPTURING.contains(&around) && node.named_child_count() == 1 => {
                node.named_child(0)
            }
            "splat_pattern" => node.named_child(0),
            "as_pattern" if around == "case_pattern" => named_children(node).pop(),
            _ => None,
        };
        let Some(name) = name.filter(|name| name.kind() == "identifier") else { return };
        let bound = [(self.text_of(name), name.start_byte())];
        self.found.bound.extend(bound);
        self.add_bindings(node, &bound);
        let class = node.named_child(0).filter(|_| node.kind() == "as_pattern").and_then(pattern_class);
        match class {
            Some(class) => self.add_written_value(name, self.text_of(class).to_owned()),
            None => self.add_value(Cow::Borrowed(bound[0].0), String::new(), bound[0].1),
        }
    }

    /// Records the type of the exception that an `except` clause binds: one, or all of a tuple.
    pub(super) fn add_caught_value(&mut self, node: Node<'t>) {
        let is_caught = self
            .path
            .last()
            .is_some_and(|(around, _)| matches!(around.kind(), "except_clause" | "except_group_clause"));
        let target = node.child_by_field_name("alias").and_then(|alias| alias.named_child(0));
        let (Some(target), Some(caught)) =
            (target.filter(|target| is_caught && target.kind() == "identifier"), node.named_child(0))
        else {
            return;
        };
        let types = if caught.kind() == "tuple" { named_children(caught) } else { vec![caught] };
        if types.iter().all(|of_type| matches!(of_type.kind(), "identifier" | "attribute")) {
            let names: Vec<&str> = types.into_iter().map(|of_type| self.text_of(of_type)).collect();
            self.add_written_value(target, names.join("|"));
        }
    }

    fn add_written_value(&mut self, name: Node<'t>, of: String) {
        let at = name.start_byte();
        if of.len() <= MAX_NAME_BYTES {
            let name = Cow::Borrowed(self.text_of(name));
            self.push_value(FoundValue::of_type(name, Cow::Owned(of), at));
        }
    }

    /// Records that the names which a loop, a clause or several values at once set have no known type from there on.
    pub(super) fn add_open_values(&mut self, node: Node<'t>, names: &[(&'a str, usize)]) {
        if self.nodes.import_syntax != ImportSyntax::Python {
            return;
        }
        let is_open = match node.kind() {
            "for_statement" => true,
            "assignment" => node.child_by_field_name("left").is_some_and(|left| left.named_child_count() > 1),
            "as_pattern_target" => self.is_open_target(),
            _ => false,
        };
        for (name, at) in names.iter().filter(|_| is_open) {
            self.add_value(Cow::Borrowed(name), String::new(), *at);
        }
    }

    /// Returns whether the name behind `as` at the current node gets no type from what is before.
    fn is_open_target(&self) -> bool {
        let mut around = self.nodes_around();
        let value = around.next().and_then(|pattern| pattern.named_child(0));
        let is_with = around.next().is_some_and(|item| item.kind() == "with_item");
        is_with && value.is_none_or(|value| self.expression_path(value, MAX_RECEIVER_PARTS).is_none())
    }

    /// Records that a variable is set to a value of no known type. An assignment of `None` or of a literal is left out, because a later one
    /// usually sets the real value.
    pub(super) fn add_open_value(&mut self, node: Node<'t>) {
        let set = |field| node.child_by_field_name(field);
        let name = ["left", "name"].into_iter().find_map(set).filter(|name| name.kind() == "identifier");
        let value =
            ["right", "value"].into_iter().find_map(set).filter(|value| !LITERALS.contains(&value.kind()));
        if let (ImportSyntax::Python, Some(name), Some(_)) = (self.nodes.import_syntax, name, value) {
            self.add_value(Cow::Borrowed(self.text_of(name)), String::new(), name.start_byte());
        }
    }

    /// Records that a function does not bind the names of a `global` or `nonlocal` statement.
    pub(super) fn add_outer_names(&mut self, node: Node<'t>) {
        let names = named_children(node).into_iter().filter(|name| name.kind() == "identifier");
        let names: Vec<_> = names.map(|name| (self.text_of(name), name.start_byte())).collect();
        self.found.unbound.extend(names);
    }

    /// Records the calls of values whose type this file shows, as calls of `__call__`.
    pub(super) fn finish_called_values(&mut self) {
        let called = std::mem::take(&mut self.called_values);
        let values = self.found.values.iter().filter(|value| {
            let last = last_part(&value.of).trim_end_matches(['(', ')', '?']);
            last.starts_with(char::is_uppercase)
        });
        let typed: std::collections::HashSet<String> = values.map(|value| value.name.to_string()).collect();
        let is_created = |path: &str| {
            path.strip_suffix("()").is_some_and(|of_type| last_part(of_type).starts_with(char::is_uppercase))
        };
        for (path, at) in called.into_iter().filter(|(path, _)| typed.contains(path) || is_created(path)) {
            self.found.uses.push(FoundUse {
                name: Cow::Borrowed("__call__"),
                at,
                receiver: FoundReceiver::Named(path),
                role: UseRole::Call,
                n_arguments: None,
                is_value: true,
            });
        }
    }

    /// Records the last name of a dotted path in a string, as in `patch("pkg.mod.name")`. The function around imports its module.
    fn add_dotted_name(&mut self, call: Node<'t>, dotted: Node<'t>) {
        let written = self.text_of(dotted);
        let Some((module, name)) = written.rsplit_once('.') else { return };
        if module.len() > MAX_NAME_BYTES || !written.split('.').all(is_identifier) {
            return;
        }
        let is_type = |part: &&str| part.starts_with(char::is_uppercase);
        let package: Vec<&str> = module.split('.').take_while(|part| !is_type(part)).collect();
        let package = package.join(".");
        if !package.is_empty() {
            let mut import = create_import(&package, &package, "");
            let mut around = self.path.iter().rev().map(|(around, _)| *around);
            let function = around.find(|around| around.kind() == "function_definition");
            import.scope_lines = Some(lines_of(function.unwrap_or(call)));
            import.line = lines_of(dotted).0;
            self.found.imports.push(import);
        }
        self.found.uses.push(FoundUse {
            name: Cow::Borrowed(name),
            at: dotted.end_byte() - name.len(),
            receiver: FoundReceiver::Named(module.to_owned()),
            role: UseRole::Mention,
            n_arguments: None,
            is_value: true,
        });
    }

    pub(super) fn add_string_use(&mut self, content: Node<'t>, receiver: FoundReceiver) {
        let name = self.text_of(content);
        if is_identifier(name) && name.len() <= MAX_NAME_BYTES {
            let (name, at, role) = (Cow::Borrowed(name), content.start_byte(), UseRole::Mention);
            self.found.uses.push(FoundUse { name, at, receiver, role, n_arguments: None, is_value: true });
        }
    }

    /// Returns the names that a decorator `parametrize` passes to fixtures instead of to the test: those in its list `indirect`,
    /// or all for `indirect=True`; `None` if it passes none.
    pub(super) fn indirect_names(&self, decorator: Node<'t>) -> Option<Vec<&'a str>> {
        let call = decorator.named_child(0)?;
        let arguments = named_children(call.child_by_field_name("arguments")?);
        let indirect = arguments
            .iter()
            .find(|argument| field_text(**argument, "name", self.text) == Some("indirect"))
            .and_then(|argument| argument.child_by_field_name("value"));
        // The third argument without a name is `indirect`, too.
        let third = arguments.get(2).copied().filter(|third| third.kind() != "keyword_argument");
        let value = indirect.or(third)?;
        match value.kind() {
            "true" => Some(Vec::new()),
            "list" | "tuple" => {
                let strings = named_children(value).into_iter().filter_map(string_content);
                Some(strings.map(|content| self.text_of(content)).collect::<Vec<_>>())
                    .filter(|names| !names.is_empty())
            }
            _ => None,
        }
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the class in a pattern of Python: `Order` in `Order(total=0)`.
fn pattern_class(pattern: Node<'_>) -> Option<Node<'_>> {
    let inner = if pattern.kind() == "case_pattern" { pattern.named_child(0)? } else { pattern };
    inner.named_child(0).filter(|class| inner.kind() == "class_pattern" && class.kind() == "dotted_name")
}
