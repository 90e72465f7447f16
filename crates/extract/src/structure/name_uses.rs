//! Records the names that are used in languages whose scopes and types are not read: C#, Kotlin, Swift, PHP, Scala, Ruby and others.
//!
//! Each name counts, with what the text before and after it shows: the path before a `.`, the arguments of a call, and whether
//! it is a key such as the name of an argument.

use std::borrow::Cow;

use memod_base::types::UseRole;
use tree_sitter::{Node, TreeCursor};

use super::code_paths::{SEPARATORS, ShownType, path_before};
use super::name_values::{BoundName, DeclarationReader, Hides};
use super::node_text::field_text;
use super::{FoundNames, FoundReceiver, FoundUse, FoundValue, MAX_NAME_BYTES};

/// Most nodes between a name and a clause of bases or an import.
const MAX_CLAUSE_DEPTH: usize = 5;
/// Methods of Ruby that add the methods of a module to a class.
const MIXES: [&str; 3] = ["extend", "include", "prepend"];
/// Kinds of the statements that name the package of a file.
const PACKAGES: [&str; 4] =
    ["file_scoped_namespace_declaration", "namespace_definition", "package_clause", "package_header"];
/// Blocks in which a variable is known that they declare.
const BLOCKS: [&str; 6] =
    ["block", "body_statement", "compound_statement", "do_block", "function_body", "statements"];

/// The kinds of nodes in which a grammar has names, and what each name does.
struct NameRules {
    /// Kinds of leaves that are names.
    names: &'static [&'static str],
    /// Kinds of nodes whose name before `=` or `:` is the name of a field or of a parameter.
    keys: &'static [&'static str],
    /// Kinds of clauses with the bases of a type.
    bases: &'static [&'static str],
    /// Kinds of statements that import.
    imports: &'static [&'static str],
    /// Names for the value or type around.
    own: &'static [&'static str],
    /// Whether a block after a name is an argument of a call.
    calls_with_blocks: bool,
}

const C_SHARP: NameRules = NameRules {
    names: &["identifier"],
    keys: &["argument", "subpattern", "with_initializer", "initializer_expression", "attribute_argument"],
    bases: &["base_list"],
    imports: &["using_directive"],
    own: &["this", "base"],
    calls_with_blocks: false,
};
const KOTLIN: NameRules = NameRules {
    names: &["identifier"],
    keys: &["value_argument"],
    bases: &["delegation_specifiers", "delegation_specifier"],
    imports: &["import", "import_header"],
    own: &["this", "super"],
    calls_with_blocks: true,
};
const SWIFT: NameRules = NameRules {
    names: &["simple_identifier", "type_identifier"],
    keys: &["value_argument_label"],
    bases: &["inheritance_specifier"],
    imports: &["import_declaration"],
    own: &["self", "Self", "super"],
    calls_with_blocks: true,
};
const PHP: NameRules = NameRules {
    names: &["name"],
    keys: &["argument"],
    bases: &["base_clause", "class_interface_clause", "use_declaration"],
    imports: &["namespace_use_declaration"],
    own: &["this", "self", "static", "parent"],
    calls_with_blocks: false,
};
const SCALA: NameRules = NameRules {
    names: &["identifier", "type_identifier", "operator_identifier"],
    keys: &["arguments"],
    bases: &["extends_clause"],
    imports: &["import_declaration"],
    own: &["this", "super"],
    calls_with_blocks: true,
};
const RUBY: NameRules = NameRules {
    names: &["identifier", "constant"],
    keys: &[],
    bases: &["superclass"],
    imports: &[],
    own: &["self"],
    calls_with_blocks: true,
};
const PLAIN: NameRules = NameRules {
    names: &["identifier", "alias"],
    keys: &[],
    bases: &[],
    imports: &[],
    own: &["self"],
    calls_with_blocks: false,
};

fn rules_of(language: &str) -> Option<&'static NameRules> {
    Some(match language {
        "c-sharp" => &C_SHARP,
        "kotlin" => &KOTLIN,
        "swift" => &SWIFT,
        "php" => &PHP,
        "scala" => &SCALA,
        "ruby" => &RUBY,
        "elixir" | "lua" | "zig" => &PLAIN,
        _ => return None,
    })
}

/// Returns the names that a text uses; `None` if the uses of its language are not read.
pub(crate) fn walk_names<'a>(
    language: &'static str,
    text: &'a str,
    root: Node<'_>,
) -> Option<FoundNames<'a>> {
    let rules = rules_of(language)?;
    let reader = DeclarationReader { language, text };
    let mut walker = NameWalker { rules, text, found: FoundNames::default(), path: Vec::new(), reader };
    walker.visit_nodes(&mut root.walk());
    Some(walker.found)
}

struct NameWalker<'a, 't> {
    rules: &'static NameRules,
    text: &'a str,
    found: FoundNames<'a>,
    /// The nodes around the current one, outermost first.
    path: Vec<Node<'t>>,
    reader: DeclarationReader<'a>,
}

impl<'a, 't> NameWalker<'a, 't> {
    /// Visits the nodes in the order of the text. The tree may be deep: nothing recurses.
    fn visit_nodes(&mut self, cursor: &mut TreeCursor<'t>) {
        loop {
            let node = cursor.node();
            if node.child_count() == 0 && node.is_named() && self.rules.names.contains(&node.kind()) {
                self.add_name(node);
            } else {
                self.add_declaration(node);
                self.read_package(node);
                if node.kind() == "string_content" || node.kind() == "simple_symbol" {
                    self.add_name_in_text(node);
                }
                if cursor.goto_first_child() {
                    self.path.push(node);
                    continue;
                }
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.path.pop();
            }
        }
    }

    /// Records what a declaration binds.
    fn add_declaration(&mut self, node: Node<'t>) {
        for bound in self.reader.read_bound_names(node, self.path.last().copied()) {
            let BoundName { name, is_result, is_own_field, of, hides } = bound;
            let (at, text) = (name.start_byte(), self.text.get(name.byte_range()).unwrap_or_default());
            match hides {
                Hides::All => self.found.bound.push((text, at)),
                Hides::Mentions => self.found.bound_values.push((text, at)),
                Hides::Nothing => {}
            }
            let (of, is_written) = match of {
                Some(ShownType::Named(name)) => (name, true),
                Some(ShownType::Path(path)) => (path, false),
                // A variable whose type is not known hides fields of its name.
                None if is_result || is_own_field => continue,
                None => (String::new(), false),
            };
            let name = match text {
                _ if is_result => Cow::Borrowed("()"),
                _ if is_own_field => Cow::Owned(format!("self.{}", text.trim_start_matches('@'))),
                text => Cow::Borrowed(text),
            };
            let of = Cow::Owned(of);
            let around = self.path.iter().rev().find(|node| BLOCKS.contains(&node.kind()));
            let block_end = around.map_or(usize::MAX, Node::end_byte);
            self.found.values.push(FoundValue { is_written, block_end, ..FoundValue::of_type(name, of, at) });
        }
    }

    /// Records the name in a part of a string, `$total` of Kotlin, and the name of a method in a symbol of Ruby: `send(:total)`.
    fn add_name_in_text(&mut self, node: Node<'t>) {
        let text = self.text.get(node.byte_range()).unwrap_or_default();
        let is_kotlin = self.reader.language == "kotlin";
        let before =
            node.prev_sibling().map_or("", |before| self.text.get(before.byte_range()).unwrap_or_default());
        let parent = self.path.last().map_or("", |parent| parent.kind());
        let (start, receiver) = match text.strip_prefix(':') {
            Some(_) if matches!(parent, "argument_list" | "block_argument" | "pair") => {
                (1, FoundReceiver::Other)
            }
            None if is_kotlin && before.ends_with('$') => (0, FoundReceiver::None),
            _ => return,
        };
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || start == 1 && matches!(c, '?' | '!');
        let end = text[start..].find(|c: char| !is_part(c)).map_or(text.len(), |end| start + end);
        let name = &text[start..end];
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return;
        }
        let (at, role) = (node.start_byte() + start, UseRole::Mention);
        let name = Cow::Borrowed(name);
        self.found.uses.push(FoundUse { name, at, receiver, role, n_arguments: None, is_value: true });
    }

    /// Returns whether the name at the current node is a base of a type, and no argument of the base.
    fn is_base(&self) -> bool {
        let around = self.path.iter().rev().take(MAX_CLAUSE_DEPTH).map(Node::kind);
        let is_inner =
            |kind: &str| kind.contains("argument") || kind.contains("projection") || kind.contains("lambda");
        let mut own = around.take_while(|kind| !is_inner(kind));
        own.any(|kind| self.rules.bases.contains(&kind))
    }

    /// Records the package of the file.
    fn read_package(&mut self, node: Node<'t>) {
        let is_package = PACKAGES.contains(&node.kind());
        if !is_package || !self.found.package.is_empty() {
            return;
        }
        let text = self.text.get(node.byte_range()).unwrap_or_default().lines().next().unwrap_or_default();
        let name = text.split_once(' ').map_or("", |(_, name)| name);
        self.found.package = name.trim_end_matches([';', '{', ' ']).replace('\\', ".");
    }

    /// Returns whether a name is a module whose methods a class of Ruby gets: `include Comparable`.
    fn is_mixed_in(&self) -> bool {
        let calls = self.path.iter().rev().take(MAX_CLAUSE_DEPTH).filter(|node| node.kind() == "call");
        let methods = calls.filter(|call| call.child_by_field_name("receiver").is_none());
        let mut names = methods.filter_map(|call| field_text(*call, "method", self.text));
        self.reader.language == "ruby" && names.any(|name| MIXES.contains(&name))
    }

    fn add_name(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_byte(), node.end_byte());
        let name = self.text.get(start..end).unwrap_or_default();
        if name.is_empty() || name.len() > MAX_NAME_BYTES || self.rules.own.contains(&name) {
            return;
        }
        let parent = self.path.last().map_or("", |parent| parent.kind());
        // `$total` of PHP is a variable; only `Order::$total` is a field.
        let is_variable = parent == "variable_name";
        let before = self.text[..start].trim_end_matches('$').trim_end();
        let separator = SEPARATORS.iter().find(|separator| before.ends_with(**separator));
        if is_variable && separator.is_none() {
            return;
        }
        let after = self.text[end..].trim_start_matches([' ', '\t']);
        let around = self.path.iter().rev().take(MAX_CLAUSE_DEPTH);
        let is_in = |kinds: &[&str]| around.clone().any(|around| kinds.contains(&around.kind()));
        let is_import = is_in(self.rules.imports);
        let receiver = match separator {
            _ if is_import => FoundReceiver::Import,
            Some(separator) => self.receiver_before(before.len() - separator.len()),
            None if self.is_key(node, after) => FoundReceiver::Other,
            None => FoundReceiver::None,
        };
        let role = match () {
            () if is_import => UseRole::Mention,
            () if self.is_base() || self.is_mixed_in() => UseRole::Base,
            () if has_arguments(after) => UseRole::Call,
            () if self.rules.calls_with_blocks && after.starts_with("{ ") => UseRole::Call,
            () => UseRole::Mention,
        };
        let name = Cow::Borrowed(name);
        self.found.uses.push(FoundUse { name, at: start, receiver, role, n_arguments: None, is_value: true });
    }

    /// Returns whether a name is the key of an argument, a pattern or a field.
    fn is_key(&self, node: Node<'_>, after: &str) -> bool {
        let mut around = self.path.iter().rev().map(Node::kind);
        let parent = around.next().unwrap_or_default();
        let outer = around.next().unwrap_or_default();
        let is_set = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        let has_mark = is_set || after.starts_with(':') && !after.starts_with("::");
        if parent == "assignment_expression" {
            return is_set && node.prev_sibling().is_none() && self.rules.keys.contains(&outer);
        }
        has_mark && self.rules.keys.contains(&parent)
    }

    /// Returns the path that ends at a byte of the text, as far as it is made of names.
    fn receiver_before(&self, end: usize) -> FoundReceiver {
        match path_before(&self.text[..end]) {
            Some(path) if path == "self" || self.rules.own.contains(&&*path) => FoundReceiver::Own,
            Some(path) => FoundReceiver::Named(path),
            None => FoundReceiver::Other,
        }
    }
}

/// Returns whether the text after a name has the arguments of a call, after arguments of types.
fn has_arguments(after: &str) -> bool {
    let types = after.strip_prefix('<').and_then(|rest| {
        let end = rest.find(['>', '(', ')', ';', '{', '\n'])?;
        rest[end..].strip_prefix('>')
    });
    types.unwrap_or(after).starts_with('(')
}

#[cfg(test)]
mod tests {
    use memod_base::types::{UseReceiver, UseRole};

    use crate::extract;

    /// Checks that a file uses names, each as `receiver name role`.
    fn check(path: &str, text: &str, expected: &[&str]) {
        let structure = extract(path, text).structure;
        let shown: Vec<String> = structure
            .uses
            .iter()
            .map(|used| {
                let receiver = match used.receiver {
                    UseReceiver::None => "-",
                    UseReceiver::Own => "own",
                    UseReceiver::Named(path) => structure.name(path),
                    UseReceiver::Import => "import",
                    _ => "?",
                };
                let role = match used.role {
                    UseRole::Call => "()",
                    UseRole::Base => " base",
                    _ => "",
                };
                format!("{receiver} {}{role}", structure.name(used.name))
            })
            .collect();
        for wanted in expected {
            assert!(shown.iter().any(|found| found == wanted), "{wanted}: {shown:?}\n{text}");
        }
    }

    #[test]
    fn keys_members_and_calls() {
        check(
            "a.cs",
            "using System;\nclass U : Base { void F(object o) { var a = new Order { Total = 1 }; var c = a with { Sum = 3 }; if (o is Order { Rest: 4 }) {} G(count: 1); a.Total++; this.Own(); } }\n",
            &[
                "import System",
                "- Base base",
                "- Order",
                "? Total",
                "? Sum",
                "? Rest",
                "? count",
                "a Total",
                "own Own()",
                "- G()",
            ],
        );
        check(
            "a.kt",
            "import shop.Order\nclass B : A() { fun f(o: Order) { val a = Order(total = 1); a.copy(sum = 2); println(o?.total); o.run { 1 } } }\n",
            &["import Order", "- Order()", "? total", "a copy()", "? sum", "o total", "o run()"],
        );
        check(
            "a.swift",
            "struct B: A { func f(o: Order) { let a = Order(total: 1); print(o.total); self.g() } }\n",
            &["- A base", "- Order()", "? total", "o total", "own g()"],
        );
        check(
            "a.php",
            "<?php\nuse Shop\\Order;\nclass B extends A { function f() { $a = new Order(total: 1); $this->g(); return $a->sum + Order::$limit + Order::MAX; } }\n",
            &[
                "import Order",
                "- A base",
                "- Order()",
                "? total",
                "own g()",
                "a sum",
                "Order limit",
                "Order MAX",
            ],
        );
        check(
            "a.scala",
            "import shop.Order\nclass B extends A { def f(o: Order) = { val a = Order(total = 1); o match { case Order(t) => t }; o.sum } }\n",
            &["import Order", "- A base", "- Order()", "? total", "o sum"],
        );
        check(
            "a.rb",
            "class B < A\n  def f(o)\n    Order.new(1).sum\n    self.g\n    o.each { 1 }\n  end\nend\n",
            &["- A base", "Order new()", "Order.new() sum", "own g", "o each()"],
        );
    }
}
