//! Records the fields that literals and patterns name, each with the type whose field it is.
//!
//! A key names a field without a receiver: `Order { total: 1 }`, `.total = 1`, `Order(total=1)`, `case RED`. Its receiver here is
//! the type of the literal or pattern around it, as a path.

use std::borrow::Cow;

use memod_base::types::UseRole;
use tree_sitter::Node;

use super::languages::{GO_LIST_TYPES, ImportSyntax};
use super::walker::TreeWalker;
use super::{FoundReceiver, FoundUse, FoundValue, MAX_NAME_BYTES, macros, value_types};

/// Most literals that are read around a key.
const MAX_LITERALS: usize = 8;
/// Kinds of literals and patterns of Rust, each with the field of their type.
const RUST_TYPES: [(&str, &str); 2] = [("struct_expression", "name"), ("struct_pattern", "type")];

impl<'a, 't> TreeWalker<'a, 't> {
    /// Records a label that names a field. Other labels are no uses.
    pub(super) fn add_field_key(&mut self, node: Node<'t>, parent_kind: &str) {
        let receiver = match parent_kind {
            "field_initializer" | "field_pattern" => self.type_of_rust_literal(),
            "field_designator" => Some(self.type_of_designator()),
            "pair" if node.kind() == "property_identifier" => self.receiver_of_literal(2),
            // A type of Python whose fields its constructor sets, such as a dataclass.
            "keyword_argument" => self.node_above(3).and_then(|(_, call)| self.receiver_of_keywords(call)),
            // `case Order(total=0)` reads any attribute.
            "keyword_pattern" => {
                let of_type = self.node_above(3).and_then(|(_, pattern)| pattern.named_child(0));
                if let Some(of_type) = of_type {
                    let receiver = self.receiver_of_created(of_type);
                    self.add_string_use(node, receiver);
                }
                return;
            }
            "literal_element" => self.node_above(3).and_then(|(body, _)| self.receiver_of_go_key(body)),
            _ => None,
        };
        if let Some(receiver) = receiver {
            self.add_named_field(node, receiver);
        }
    }

    /// Records a name that is a value and the field with its name at once, as in `Order { total }`, or a constant that is named
    /// without its type, as in `case RED`.
    pub(super) fn add_shorthand_field(&mut self, node: Node<'t>, parent_kind: &str) {
        let receiver = match parent_kind {
            "shorthand_field_initializer" => self.type_of_rust_literal(),
            "switch_label" => self.node_above(4).map(|(_, switch)| {
                let value = switch.child_by_field_name("condition");
                value.map_or(FoundReceiver::Other, |value| self.find_receiver(value, ""))
            }),
            _ => None,
        };
        if let Some(receiver) = receiver {
            self.add_named_field(node, receiver);
        }
    }

    /// Records the field that a name among the tokens of a macro names; returns whether the name is nothing else.
    pub(super) fn add_field_among_tokens(&mut self, parent: Node<'t>, node: Node<'t>) -> bool {
        let Some((type_path, is_key)) = macros::literal_type_among_tokens(self, parent, node) else {
            return false;
        };
        let receiver = self.receiver_of_path(type_path);
        self.add_named_field(node, receiver);
        is_key
    }

    fn add_named_field(&mut self, node: Node<'t>, receiver: FoundReceiver) {
        let name = self.text_of(node);
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES {
            let (name, at, role) = (Cow::Borrowed(name), node.start_byte(), UseRole::Field);
            self.found.uses.push(FoundUse { name, at, receiver, role, n_arguments: None, is_value: true });
        }
    }

    /// Returns the node `n_up` above the current one, with its position in the path.
    fn node_above(&self, n_up: usize) -> Option<(usize, Node<'t>)> {
        self.path.len().checked_sub(n_up).map(|at| (at, self.path[at].0))
    }

    /// Returns the type of the literal or pattern of Rust around a key: `E.V` of `E::V { total }`.
    fn type_of_rust_literal(&self) -> Option<FoundReceiver> {
        let mut around = [2, 3].into_iter().filter_map(|n_up| self.node_above(n_up));
        let type_node = around.find_map(|(_, literal)| {
            let (_, field) = RUST_TYPES.iter().find(|(kind, _)| *kind == literal.kind())?;
            literal.child_by_field_name(field)
        });
        type_node.map(|type_node| self.find_receiver(type_node, ""))
    }

    /// Records the field in `offsetof(struct sink, total)`. The name is no use of its own.
    pub(super) fn add_offset_field(&mut self, node: Node<'t>) {
        let (Some(written), Some(member)) =
            (node.child_by_field_name("type"), node.child_by_field_name("member"))
        else {
            return;
        };
        let of_type = value_types::named_type(written, self.text);
        let receiver = of_type
            .map_or(FoundReceiver::Other, |of| FoundReceiver::Named(format!("{}()", of.to_own_name())));
        self.add_named_field(member, receiver);
    }

    /// Returns the type around a designator of C, as the path of a value: `sink()` of `(struct sink){ .total = 1 }`, and
    /// `sink().inner` of a list that sets the field `inner`.
    fn type_of_designator(&self) -> FoundReceiver {
        let Some((pair, list)) = self.path.len().checked_sub(2).zip(self.path.len().checked_sub(3)) else {
            return FoundReceiver::Other;
        };
        let own = self.path.last().map_or(0, |(designator, _)| designator.start_byte());
        let path = self.path_of_list(list, MAX_LITERALS).map(|path| {
            let before = self.list_designated_fields(self.path[pair].0, Some(own));
            before.into_iter().fold(path, |path, name| format!("{path}.{name}"))
        });
        match path {
            Some(path) if path.len() <= MAX_NAME_BYTES => FoundReceiver::Named(path),
            _ => FoundReceiver::Other,
        }
    }

    /// Returns the path of the value that the list of initializers at a position in the path sets, if its type is written.
    /// Elements of an array have the path of the array.
    fn path_of_list(&self, list: usize, most: usize) -> Option<String> {
        let around = list.checked_sub(1)?;
        let (node, most) = (self.path[around].0, most.checked_sub(1)?);
        let written = match node.kind() {
            "compound_literal_expression" => node.child_by_field_name("type")?,
            "init_declarator" => self.path[around.checked_sub(1)?].0.child_by_field_name("type")?,
            "initializer_list" if self.is_array(around) => return self.path_of_list(around, most),
            "initializer_pair" => {
                let of_value = self.path_of_list(around.checked_sub(1)?, most)?;
                let names = self.list_designated_fields(node, None);
                return Some(names.into_iter().fold(of_value, |path, name| format!("{path}.{name}")));
            }
            _ => return None,
        };
        let written =
            if written.kind() == "type_descriptor" { written.child_by_field_name("type")? } else { written };
        let of_type = value_types::named_type(written, self.text)?;
        Some(format!("{}()", of_type.to_own_name()))
    }

    /// Returns whether the list of initializers at a position in the path has the elements of an array. A list in the list of a field
    /// is read as an element.
    fn is_array(&self, list: usize) -> bool {
        if list.checked_sub(1).is_some_and(|around| self.path[around].0.kind() == "initializer_pair") {
            return true;
        }
        let declarator = list.checked_sub(1).and_then(|around| match self.path[around].0 {
            node if node.kind() == "init_declarator" => node.child_by_field_name("declarator"),
            node => node.child_by_field_name("type"),
        });
        let text = declarator.map_or("", |declarator| self.text_of(declarator));
        text.contains('[')
    }

    /// Returns the names of the fields that a pair of C designates, those before byte `end` if it is given.
    fn list_designated_fields(&self, pair: Node<'t>, end: Option<usize>) -> Vec<&'a str> {
        let mut cursor = pair.walk();
        let all = pair.children_by_field_name("designator", &mut cursor);
        let named = all.filter(|designator| {
            designator.kind() == "field_designator" && end.is_none_or(|end| designator.start_byte() < end)
        });
        named.map(|designator| self.text_of(designator).trim_start_matches(['.', ' '])).collect()
    }

    /// Returns the receiver of a key in the body of a Go literal; `None` for the fields of a struct without a name.
    fn receiver_of_go_key(&self, body: usize) -> Option<FoundReceiver> {
        match self.type_of_literal(body, MAX_LITERALS) {
            Some(of_type) if of_type.kind() == "struct_type" => None,
            Some(of_type) => Some(self.find_receiver(of_type, "")),
            // An element of a list whose type has a name.
            None => Some(FoundReceiver::Other),
        }
    }

    /// Returns whether a node where a label may be is a plain label. `[key]` is computed, and keys of maps and lists in Go
    /// are values.
    pub(super) fn is_inner_label(&self, node: Node<'_>) -> bool {
        if node.named_child_count() != 1 || node.kind() == "computed_property_name" {
            return false;
        }
        // In Go, a key is in an element, the element in a pair, and the pair in the body of a literal. A literal of a named
        // type is read as a struct.
        let body = self.path.len().checked_sub(3);
        let literal_type = body.and_then(|body| self.type_of_literal(body, MAX_LITERALS));
        !literal_type.is_some_and(|node| node.kind() == "map_type" || GO_LIST_TYPES.contains(&node.kind()))
    }

    /// Returns the type of the Go literal whose body is at a position in the path. A literal inside of another may leave its
    /// type out, which then follows from the outer literal. At most `most` outer literals are read.
    fn type_of_literal(&self, body: usize, most: usize) -> Option<Node<'t>> {
        let around = body.checked_sub(1)?;
        let (element, field) = self.path[around];
        if element.kind() == "composite_literal" {
            return element.child_by_field_name("type");
        }
        let is_in_pair = self.path[around.checked_sub(1)?].0.kind() == "keyed_element";
        let outer = around.checked_sub(if is_in_pair { 2 } else { 1 })?;
        let outer = self.type_of_literal(outer, most.checked_sub(1)?)?;
        let part = match (outer.kind(), self.field_name(field)) {
            ("map_type", Some("key")) => "key",
            ("map_type", _) => "value",
            (kind, _) if GO_LIST_TYPES.contains(&kind) => "element",
            _ => return None,
        };
        let part_type = outer.child_by_field_name(part)?;
        if part_type.kind() == "pointer_type" { part_type.named_child(0) } else { Some(part_type) }
    }

    /// Records the variable that a pattern of Java binds, with its type: `Order order` after `instanceof`, and the parts of
    /// `Order(int total, Customer customer)`.
    pub(super) fn add_java_pattern(&mut self, node: Node<'t>) {
        if self.nodes.import_syntax != ImportSyntax::Java {
            return;
        }
        let n_named = node.named_child_count() as u32;
        let (Some(of_type), Some(name)) = (node.named_child(0), node.named_child(n_named.saturating_sub(1)))
        else {
            return;
        };
        if name.kind() != "identifier" || n_named < 2 {
            return;
        }
        let at = name.start_byte();
        self.found.bound.push((self.text_of(name), at));
        self.add_bindings(node, &[(self.text_of(name), at)]);
        if let Some(of_type) = value_types::named_type(of_type, self.text)
            && of_type.to_marked_name() != "var"
        {
            let (name, of) = (Cow::Borrowed(self.text_of(name)), of_type.to_marked_name());
            self.push_value(FoundValue::of_type(name, of, at));
        }
    }

    /// Records the components of a record of Java, which are called without arguments to read them.
    pub(super) fn add_record_components(&mut self, node: Node<'t>) {
        let parameters = node.child_by_field_name("parameters");
        for component in parameters.into_iter().flat_map(super::node_text::named_children) {
            let name = component.child_by_field_name("name");
            self.found.accessors.extend(name.map(|name| name.start_byte()));
        }
    }
}
