//! Records the names that are used in languages whose scopes and types are not read: C#, Kotlin, Swift, PHP, Scala, Ruby and others.
//!
//! Each name counts, with what the text before and after it shows: the path before a `.`, the arguments of a call, and whether
//! it is a key such as the name of an argument.

use std::borrow::Cow;

use memod_base::types::{UseRole, last_part};
use tree_sitter::{Node, TreeCursor};

use super::{FoundNames, FoundReceiver, FoundUse, MAX_NAME_BYTES};

/// Most nodes between a name and a clause of bases or an import.
const MAX_CLAUSE_DEPTH: usize = 5;
/// Most bytes of the path before a name.
const MAX_PATH_BYTES: usize = 120;
/// Marks between a value and its member.
const SEPARATORS: [&str; 6] = ["?->", "->", "::", "?.", "!!.", "."];

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
    bases: &["base_clause", "class_interface_clause"],
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
pub(crate) fn walk_names<'a>(language: &str, text: &'a str, root: Node<'_>) -> Option<FoundNames<'a>> {
    let rules = rules_of(language)?;
    let mut walker = NameWalker { rules, text, found: FoundNames::default(), path: Vec::new() };
    walker.visit_nodes(&mut root.walk());
    Some(walker.found)
}

struct NameWalker<'a, 't> {
    rules: &'static NameRules,
    text: &'a str,
    found: FoundNames<'a>,
    /// Kinds of the nodes around the current one, outermost first.
    path: Vec<&'t str>,
}

impl<'a, 't> NameWalker<'a, 't> {
    /// Visits the nodes in the order of the text. The tree may be deep: nothing recurses.
    fn visit_nodes(&mut self, cursor: &mut TreeCursor<'t>) {
        loop {
            let node = cursor.node();
            if node.child_count() == 0 && node.is_named() && self.rules.names.contains(&node.kind()) {
                self.add_name(node);
            } else if cursor.goto_first_child() {
                self.path.push(node.kind());
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

    fn add_name(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_byte(), node.end_byte());
        let name = self.text.get(start..end).unwrap_or_default();
        if name.is_empty() || name.len() > MAX_NAME_BYTES || self.rules.own.contains(&name) {
            return;
        }
        let parent = self.path.last().copied().unwrap_or_default();
        // `$total` of PHP is a variable; only `Order::$total` is a field.
        let is_variable = parent == "variable_name";
        let before = self.text[..start].trim_end_matches('$').trim_end();
        let separator = SEPARATORS.iter().find(|separator| before.ends_with(**separator));
        if is_variable && separator.is_none() {
            return;
        }
        let after = self.text[end..].trim_start_matches([' ', '\t']);
        let around = self.path.iter().rev().take(MAX_CLAUSE_DEPTH);
        let is_in = |kinds: &[&str]| around.clone().any(|kind| kinds.contains(kind));
        let is_import = is_in(self.rules.imports);
        let receiver = match separator {
            _ if is_import => FoundReceiver::Import,
            Some(separator) => self.receiver_before(before.len() - separator.len()),
            None if self.is_key(node, after) => FoundReceiver::Other,
            None => FoundReceiver::None,
        };
        let role = match () {
            () if is_import => UseRole::Mention,
            () if has_arguments(after) => UseRole::Call,
            () if is_in(self.rules.bases) => UseRole::Base,
            () if self.rules.calls_with_blocks && after.starts_with("{ ") => UseRole::Call,
            () => UseRole::Mention,
        };
        let name = Cow::Borrowed(name);
        self.found.uses.push(FoundUse { name, at: start, receiver, role, n_arguments: None, is_value: true });
    }

    /// Returns whether a name is the key of an argument, a pattern or a field.
    fn is_key(&self, node: Node<'_>, after: &str) -> bool {
        let mut around = self.path.iter().rev();
        let parent = around.next().copied().unwrap_or_default();
        let outer = around.next().copied().unwrap_or_default();
        let is_set = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        let has_mark = is_set || after.starts_with(':') && !after.starts_with("::");
        if parent == "assignment_expression" {
            return is_set && node.prev_sibling().is_none() && self.rules.keys.contains(&outer);
        }
        has_mark && self.rules.keys.contains(&parent)
    }

    /// Returns the path that ends at a byte of the text, as far as it is made of names.
    fn receiver_before(&self, end: usize) -> FoundReceiver {
        let before = self.text[..end].trim_end();
        let is_part = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '?' | ':' | '\\' | '$' | '>' | '-' | '!')
        };
        let start = before.char_indices().rev().take(MAX_PATH_BYTES).take_while(|(_, c)| is_part(*c)).last();
        let written = start.map_or("", |(start, _)| &before[start..]);
        let path =
            written.replace(['?', '!', '$'], "").replace("->", ".").replace("::", ".").replace('\\', ".");
        let path = path.trim_matches('.');
        let is_path = !path.is_empty()
            && !path.starts_with(|c: char| c.is_ascii_digit())
            && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        match path {
            path if self.rules.own.contains(&path) => FoundReceiver::Own,
            path if is_path && path.len() <= MAX_NAME_BYTES && !last_part(path).is_empty() => {
                FoundReceiver::Named(path.to_owned())
            }
            _ => FoundReceiver::Other,
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
            &["- A base", "Order new()", "? sum", "own g", "o each()"],
        );
    }
}
