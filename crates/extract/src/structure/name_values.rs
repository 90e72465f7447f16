//! Reads the names that declarations bind, and their types, in Kotlin, C#, Swift, Scala, PHP and Ruby.

use tree_sitter::Node;

use super::code_paths::{Creation, ShownType, read_type, read_value};
use super::node_text::{named_children, text_of};

/// Which later names a declaration in a function hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hides {
    /// Uses and calls, as a parameter does.
    All,
    /// Uses that are no calls: in `val total = total()`, the call means another definition.
    Mentions,
    Nothing,
}

/// A name that a declaration binds.
pub(super) struct BoundName<'t> {
    /// The name, or the place of the result of a function.
    pub(super) name: Node<'t>,
    pub(super) is_result: bool,
    /// Whether the name is that of a field of the value around: `@total`, `$this->total`.
    pub(super) is_own_field: bool,
    pub(super) of: Option<ShownType>,
    pub(super) hides: Hides,
}

/// Reads the declarations of one language.
pub(super) struct DeclarationReader<'a> {
    pub(super) language: &'static str,
    pub(super) text: &'a str,
}

/// Most nodes of a pattern that are read.
const MAX_PATTERN_NODES: usize = 200;

impl DeclarationReader<'_> {
    /// Returns the names that a node binds; `parent` is the node around it.
    pub(super) fn read_bound_names<'t>(
        &self,
        node: Node<'t>,
        parent: Option<Node<'t>>,
    ) -> Vec<BoundName<'t>> {
        let bound = match self.language {
            "kotlin" => self.read_kotlin(node, parent),
            "c-sharp" => self.read_c_sharp(node),
            "swift" => self.read_swift(node, parent),
            "scala" => self.read_scala(node),
            "php" => self.read_php(node),
            "ruby" => self.read_ruby(node),
            _ => None,
        };
        bound.unwrap_or_default()
    }

    fn type_in(&self, node: Option<Node<'_>>) -> Option<ShownType> {
        read_type(text_of(node?, self.text)).map(ShownType::Named)
    }

    fn value_in(&self, node: Option<Node<'_>>) -> Option<ShownType> {
        let creates: &[Creation] = match self.language {
            "kotlin" | "swift" | "scala" => &[Creation::Call],
            "ruby" => &[Creation::New],
            _ => &[],
        };
        read_value(text_of(node?, self.text), creates)
    }

    /// Returns the type of the elements of a list.
    fn element_in(&self, node: Option<Node<'_>>) -> Option<ShownType> {
        match self.value_in(node)? {
            ShownType::Path(path) => Some(ShownType::Path(format!("{path}[]"))),
            ShownType::Named(name) => name.split_once('<').map(|(_, of)| ShownType::Named(of.to_owned())),
        }
    }

    fn read_kotlin<'t>(&self, node: Node<'t>, parent: Option<Node<'t>>) -> Option<Vec<BoundName<'t>>> {
        let children = named_children(node);
        let is_type = |node: &&Node<'_>| node.kind().ends_with("_type");
        let of_type = || self.type_in(children.iter().rev().find(is_type).copied());
        let name = children.iter().find(|child| child.kind() == "identifier").copied();
        match node.kind() {
            "class_parameter" => Some(vec![bind_name(name?, of_type(), Hides::Nothing)]),
            "parameter" | "catch_block" => Some(vec![bind_name(name?, of_type(), Hides::All)]),
            "variable_declaration" => {
                let around = parent?;
                let value = || named_children(around).into_iter().next_back().filter(|last| *last != node);
                let (of_value, hides) = match around.kind() {
                    "for_statement" => (self.element_in(named_children(around).get(1).copied()), Hides::All),
                    "property_declaration" => {
                        let value = value().filter(|value| !matches!(value.kind(), "getter" | "setter"));
                        (self.value_in(value), Hides::Mentions)
                    }
                    "when_subject" => (self.value_in(value()), Hides::All),
                    _ => (None, Hides::All),
                };
                Some(vec![bind_name(name?, of_type().or(of_value), hides)])
            }
            "function_declaration" => {
                let parameters =
                    children.iter().position(|child| child.kind() == "function_value_parameters")?;
                let after = &children[parameters + 1..];
                let body = after.iter().find(|child| child.kind() == "function_body");
                let body = body.and_then(|body| body.named_child(0)).filter(|body| body.kind() != "block");
                let of = self.type_in(after.iter().find(is_type).copied()).or_else(|| self.value_in(body));
                Some(vec![bind_result(*after.first()?, of)])
            }
            _ => None,
        }
    }

    fn read_c_sharp<'t>(&self, node: Node<'t>) -> Option<Vec<BoundName<'t>>> {
        let name = node.child_by_field_name("name");
        let written = node.child_by_field_name("type").filter(|written| written.kind() != "implicit_type");
        match node.kind() {
            "parameter"
            | "declaration_pattern"
            | "declaration_expression"
            | "catch_declaration"
            | "recursive_pattern" => Some(vec![bind_name(name?, self.type_in(written), Hides::All)]),
            "implicit_parameter" => Some(vec![bind_name(node, None, Hides::All)]),
            "property_declaration" => Some(vec![bind_name(name?, self.type_in(written), Hides::Nothing)]),
            "tuple_pattern" => {
                let mut cursor = node.walk();
                let names = node.children_by_field_name("name", &mut cursor);
                Some(names.map(|name| bind_name(name, None, Hides::All)).collect())
            }
            "variable_declaration" => {
                let declarators =
                    named_children(node).into_iter().filter(|part| part.kind() == "variable_declarator");
                let bound = declarators.filter_map(|part| {
                    let name = part.child_by_field_name("name")?;
                    let value = named_children(part).into_iter().next_back().filter(|last| *last != name);
                    let of = self.type_in(written).or_else(|| self.value_in(value));
                    Some(bind_name(name, of, Hides::Mentions))
                });
                Some(bound.collect())
            }
            "foreach_statement" => {
                let of = self.type_in(written).or_else(|| self.element_in(node.child_by_field_name("right")));
                let name = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
                Some(vec![bind_name(name, of, Hides::All)])
            }
            "method_declaration" => {
                let returns = node.child_by_field_name("returns")?;
                Some(vec![bind_result(returns, self.type_in(Some(returns)))])
            }
            "local_function_statement" => Some(vec![bind_result(written?, self.type_in(written))]),
            _ => None,
        }
    }

    fn read_swift<'t>(&self, node: Node<'t>, parent: Option<Node<'t>>) -> Option<Vec<BoundName<'t>>> {
        let children = named_children(node);
        match node.kind() {
            "parameter" | "lambda_parameter" => {
                let mut names = children.iter().filter(|child| child.kind() == "simple_identifier");
                let of_type = children.iter().rev().find(|child| child.kind().ends_with("_type"));
                Some(vec![bind_name(*names.next_back()?, self.type_in(of_type.copied()), Hides::All)])
            }
            "property_declaration" => {
                let pattern = node.child_by_field_name("name")?;
                let name = pattern.child_by_field_name("bound_identifier")?;
                let annotation = children.iter().find(|child| child.kind() == "type_annotation").copied();
                let value = node.child_by_field_name("value");
                let of = self.type_in(annotation).or_else(|| self.value_in(value));
                Some(vec![bind_name(name, of, Hides::Mentions)])
            }
            "for_statement" => {
                let name = node.child_by_field_name("item")?.child_by_field_name("bound_identifier")?;
                let of = self.element_in(node.child_by_field_name("collection"));
                Some(vec![bind_name(name, of, Hides::All)])
            }
            "if_statement" | "guard_statement" | "while_statement" => {
                let mut cursor = node.walk();
                let mut found: Vec<BoundName<'t>> = Vec::new();
                let mut is_open = cursor.goto_first_child();
                while is_open && !matches!(cursor.node().kind(), "statements" | "else") {
                    let child = cursor.node();
                    match cursor.field_name() {
                        Some("bound_identifier") => found.push(bind_name(child, None, Hides::Mentions)),
                        _ if child.kind() == "type_annotation" => {
                            found.iter_mut().next_back()?.of = self.type_in(Some(child));
                        }
                        Some("condition") if child.is_named() && child.kind() != "value_binding_pattern" => {
                            if let Some(last) = found.iter_mut().next_back().filter(|last| last.of.is_none())
                            {
                                last.of = self.value_in(Some(child));
                            }
                        }
                        _ => {}
                    }
                    is_open = cursor.goto_next_sibling();
                }
                Some(found)
            }
            "pattern" if parent.is_some_and(|around| !around.kind().ends_with("_declaration")) => {
                let of_type = children.iter().find(|child| child.kind() == "user_type").copied();
                let inner = children.iter().find(|child| child.kind() == "pattern");
                let name = node.child_by_field_name("bound_identifier").or_else(|| {
                    inner.filter(|_| of_type.is_some())?.child_by_field_name("bound_identifier")
                })?;
                let is_loop = parent.is_some_and(|around| around.kind() == "for_statement");
                (!is_loop).then(|| vec![bind_name(name, self.type_in(of_type), Hides::Mentions)])
            }
            "function_declaration" | "protocol_function_declaration" => {
                let is_type = |child: &&Node<'_>| child.kind().ends_with("_type");
                let of_type = children.iter().find(is_type).copied();
                Some(vec![bind_result(of_type?, self.type_in(of_type))])
            }
            _ => None,
        }
    }

    fn read_scala<'t>(&self, node: Node<'t>) -> Option<Vec<BoundName<'t>>> {
        let written = node.child_by_field_name("type");
        let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier");
        match node.kind() {
            "class_parameter" => Some(vec![bind_name(name?, self.type_in(written), Hides::Nothing)]),
            "parameter" | "binding" => Some(vec![bind_name(name?, self.type_in(written), Hides::All)]),
            "val_declaration" | "var_declaration" => {
                Some(vec![bind_name(name?, self.type_in(written), Hides::Mentions)])
            }
            "val_definition" | "var_definition" => {
                let pattern = node.child_by_field_name("pattern")?;
                let of = self.type_in(written).or_else(|| self.value_in(node.child_by_field_name("value")));
                Some(match pattern.kind() {
                    "identifier" => vec![bind_name(pattern, of, Hides::Mentions)],
                    _ => self.read_pattern(pattern),
                })
            }
            "enumerator" => {
                let (pattern, value) = (node.named_child(0)?, node.named_child(1));
                let is_set = text_of(node, self.text).contains(" = ");
                let of = if is_set { self.value_in(value) } else { self.element_in(value) };
                Some(match pattern.kind() {
                    "identifier" => vec![bind_name(pattern, of, Hides::All)],
                    _ => self.read_pattern(pattern),
                })
            }
            "lambda_expression" => {
                let name = node.child_by_field_name("parameters").filter(|name| name.kind() == "identifier");
                Some(vec![bind_name(name?, None, Hides::All)])
            }
            "typed_pattern" => {
                Some(vec![bind_name(node.child_by_field_name("pattern")?, self.type_in(written), Hides::All)])
            }
            "case_clause" => Some(self.read_pattern(node.child_by_field_name("pattern")?)),
            "function_definition" | "function_declaration" => {
                let returned = node.child_by_field_name("return_type");
                let body = node.child_by_field_name("body");
                let of = self.type_in(returned).or_else(|| self.value_in(body));
                Some(vec![bind_result(returned.or(body)?, of)])
            }
            _ => None,
        }
    }

    /// Returns the variables of a pattern of Scala: its names that begin with a small letter.
    fn read_pattern<'t>(&self, pattern: Node<'t>) -> Vec<BoundName<'t>> {
        let (mut open, mut found) = (vec![pattern], Vec::new());
        for _ in 0..MAX_PATTERN_NODES {
            let Some(node) = open.pop() else { break };
            match node.kind() {
                "identifier" if text_of(node, self.text).starts_with(char::is_lowercase) => {
                    found.push(bind_name(node, None, Hides::All));
                }
                // A typed variable is read as a node of its own.
                "typed_pattern" | "field_expression" | "stable_identifier" => {}
                _ => open.extend(named_children(node)),
            }
        }
        found
    }

    fn read_php<'t>(&self, node: Node<'t>) -> Option<Vec<BoundName<'t>>> {
        let written = node.child_by_field_name("type");
        let name = node.child_by_field_name("name").and_then(variable_name);
        match node.kind() {
            "simple_parameter" => Some(vec![bind_name(name?, self.type_in(written), Hides::Nothing)]),
            "property_promotion_parameter" => {
                let own = bind_name(name?, self.type_in(written), Hides::Nothing);
                let field = BoundName {
                    is_own_field: true,
                    ..bind_name(name?, self.type_in(written), Hides::Nothing)
                };
                Some(vec![own, field])
            }
            "catch_clause" => Some(vec![bind_name(name?, self.type_in(written), Hides::Nothing)]),
            "property_declaration" => {
                let elements =
                    named_children(node).into_iter().filter(|part| part.kind() == "property_element");
                let names = elements.filter_map(|part| variable_name(part.child_by_field_name("name")?));
                Some(names.map(|name| bind_name(name, self.type_in(written), Hides::Nothing)).collect())
            }
            "assignment_expression" => {
                let left = node.child_by_field_name("left")?;
                let of = self.value_in(node.child_by_field_name("right"));
                if left.kind() == "member_access_expression" {
                    let object = left.child_by_field_name("object")?;
                    let name = left.child_by_field_name("name")?;
                    let is_own = text_of(object, self.text) == "$this";
                    return is_own.then(|| {
                        vec![BoundName { is_own_field: true, ..bind_name(name, of, Hides::Nothing) }]
                    });
                }
                Some(vec![bind_name(variable_name(left)?, of, Hides::Nothing)])
            }
            "foreach_statement" => {
                let children = named_children(node);
                let element = children.get(1)?;
                let element = if element.kind() == "pair" { element.named_child(1)? } else { *element };
                let of = self.element_in(children.first().copied());
                Some(vec![bind_name(variable_name(element)?, of, Hides::Nothing)])
            }
            "method_declaration" | "function_definition" => {
                let returned = node.child_by_field_name("return_type")?;
                Some(vec![bind_result(returned, self.type_in(Some(returned)))])
            }
            _ => None,
        }
    }

    fn read_ruby<'t>(&self, node: Node<'t>) -> Option<Vec<BoundName<'t>>> {
        let name = node.child_by_field_name("name");
        match node.kind() {
            "method_parameters"
            | "block_parameters"
            | "lambda_parameters"
            | "destructured_parameter"
            | "left_assignment_list"
            | "exception_variable" => {
                let names = named_children(node).into_iter().filter(|part| part.kind() == "identifier");
                Some(names.map(|name| bind_name(name, None, Hides::All)).collect())
            }
            "optional_parameter"
            | "splat_parameter"
            | "hash_splat_parameter"
            | "keyword_parameter"
            | "block_parameter" => Some(vec![bind_name(name?, None, Hides::All)]),
            "keyword_pattern" => {
                let name = node.child_by_field_name("value").filter(|value| value.kind() == "identifier");
                Some(vec![bind_name(name?, None, Hides::All)])
            }
            "for" => {
                let name = node.child_by_field_name("pattern").filter(|name| name.kind() == "identifier")?;
                let of =
                    node.child_by_field_name("value").and_then(|value| self.element_in(value.named_child(0)));
                Some(vec![bind_name(name, of, Hides::All)])
            }
            "assignment" | "operator_assignment" => {
                let left = node.child_by_field_name("left")?;
                let of = self.value_in(node.child_by_field_name("right"));
                match left.kind() {
                    "identifier" => Some(vec![bind_name(left, of, Hides::Mentions)]),
                    "constant" => Some(vec![bind_name(left, of, Hides::Nothing)]),
                    "instance_variable" => {
                        Some(vec![BoundName { is_own_field: true, ..bind_name(left, of, Hides::Nothing) }])
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn bind_name(name: Node<'_>, of: Option<ShownType>, hides: Hides) -> BoundName<'_> {
    BoundName { name, is_result: false, is_own_field: false, of, hides }
}

fn bind_result(at: Node<'_>, of: Option<ShownType>) -> BoundName<'_> {
    BoundName { name: at, is_result: true, is_own_field: false, of, hides: Hides::Nothing }
}

/// Returns the name in a variable of PHP.
fn variable_name(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() == "variable_name" { node.named_child(0) } else { None }
}
