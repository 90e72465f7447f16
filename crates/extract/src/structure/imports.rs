//! Reads import statements.

use memod_base::types::{ImportedName, is_version};
use tree_sitter::Node;

use super::javascript_imports;
use super::languages::ImportSyntax;
use super::node_text::{create_import, named_children, text_of};

/// Most names that are read of one import statement.
const MAX_NAMES: usize = 1_000;

/// Headers of the C standard library, without their ending: ISO C23, 7.1.2.
const C_HEADERS: &str = "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg \
    stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype";

/// Returns the imports of a statement; none if it exports its own definitions, or includes a header of the
/// standard library.
pub(super) fn read_imports(importing: ImportSyntax, node: Node<'_>, text: &str) -> Vec<ImportedName> {
    let mut found = match importing {
        ImportSyntax::Python => python_imports(node, text),
        ImportSyntax::JavaScript => javascript_imports::read_statement(node, text),
        ImportSyntax::Go => go_imports(text_of(node, text)),
        ImportSyntax::Rust => rust_imports(text_of(node, text)),
        ImportSyntax::Java => java_imports(text_of(node, text)),
        ImportSyntax::C => c_imports(text_of(node, text)),
    };
    found.truncate(MAX_NAMES);
    let line = node.start_position().row as u32 + 1;
    found.iter_mut().for_each(|import| import.line = line);
    found
}

/// Returns the name in a package statement.
pub(super) fn package_name(statement: &str) -> String {
    let name = statement.trim_start_matches("package").trim_matches(|c: char| c.is_whitespace() || c == ';');
    name.to_owned()
}

fn python_imports(node: Node<'_>, text: &str) -> Vec<ImportedName> {
    let module_node = node.child_by_field_name("module_name");
    let module = module_node.map(|node| text_of(node, text));
    let mut found = Vec::new();
    for child in named_children(node).into_iter().filter(|child| Some(*child) != module_node) {
        let (name, alias) = match child.kind() {
            "aliased_import" => (child.child_by_field_name("name"), child.child_by_field_name("alias")),
            "dotted_name" => (Some(child), None),
            "wildcard_import" => {
                found.push(create_import("", module.unwrap_or_default(), ""));
                continue;
            }
            _ => continue,
        };
        let (Some(name), alias) =
            (name.map(|node| text_of(node, text)), alias.map(|node| text_of(node, text)))
        else {
            continue;
        };
        match module {
            Some(module) => found.push(create_import(alias.unwrap_or(name), module, name)),
            // `import a.b` binds `a`; uses name the module in full.
            None => found.push(create_import(alias.unwrap_or(name), name, "")),
        }
    }
    found
}

fn go_imports(statement: &str) -> Vec<ImportedName> {
    let lines = statement.trim_start_matches("import").lines();
    let imports = lines.filter_map(|line| {
        let (alias, rest) = line.split_once('"')?;
        let (module, _) = rest.split_once('"')?;
        let alias = alias.trim_matches(|c: char| c.is_whitespace() || c == '(');
        let last = module.rsplit('/').find(|part| !is_version(part)).unwrap_or(module);
        let local = match alias {
            "" => last.trim_start_matches("go-"),
            "." => "",
            alias => alias,
        };
        (alias != "_").then(|| create_import(local, module, ""))
    });
    imports.collect()
}

/// Returns the imports of a statement such as `pub(crate) use a::{b, c::{self, d as e}, f::*};`.
fn rust_imports(statement: &str) -> Vec<ImportedName> {
    let statement = strip_comments(statement);
    let Some((_, tree)) = statement.split_once("use ") else { return Vec::new() };
    let mut found = Vec::new();
    add_use_tree("", tree.trim_end_matches(';').trim(), 0, &mut found);
    found
}

/// Returns a statement without its comments. The statement must not contain strings.
fn strip_comments(statement: &str) -> String {
    let (mut rest, mut code) = (statement, String::new());
    while let Some((before, comment)) = rest.split_once('/') {
        code.push_str(before);
        let end = if comment.starts_with('/') { "\n" } else { "*/" };
        rest = comment.split_once(end).map_or("", |(_, rest)| rest);
        code.push(' ');
    }
    code + rest
}

fn add_use_tree(prefix: &str, tree: &str, depth: usize, found: &mut Vec<ImportedName>) {
    const MAX_DEPTH: usize = 16;
    if depth > MAX_DEPTH {
        return;
    }
    if let Some((path, list)) = tree.split_once('{') {
        let path = join_rust_path(prefix, path.trim().trim_end_matches("::"));
        let list = list.strip_suffix('}').unwrap_or(list);
        return split_list(list).into_iter().for_each(|part| add_use_tree(&path, part, depth + 1, found));
    }
    let (path, alias) =
        tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
    let (path, name) = path.trim().rsplit_once("::").unwrap_or(("", path.trim()));
    let module = join_rust_path(prefix, path);
    match name {
        "" => {}
        "*" => found.push(create_import("", &module, "")),
        "self" => {
            let (outer, last) = module.rsplit_once("::").unwrap_or(("", &module));
            found.push(create_import(alias.unwrap_or(last), outer, last));
        }
        name => found.push(create_import(alias.unwrap_or(name), &module, name)),
    }
}

fn join_rust_path(prefix: &str, part: &str) -> String {
    match (prefix, part) {
        (prefix, "") => prefix.to_owned(),
        ("", part) => part.to_owned(),
        (prefix, part) => format!("{prefix}::{part}"),
    }
}

/// Splits a list at the commas outside of braces.
fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn java_imports(statement: &str) -> Vec<ImportedName> {
    let path = statement.trim_start_matches("import").trim().trim_end_matches(';').trim();
    let path = path.strip_prefix("static ").unwrap_or(path).trim();
    match path.rsplit_once('.') {
        Some((module, "*")) => vec![create_import("", module, "")],
        Some((module, name)) => vec![create_import(name, module, name)],
        None => Vec::new(),
    }
}

fn c_imports(statement: &str) -> Vec<ImportedName> {
    let Some(start) = statement.find(['"', '<']) else { return Vec::new() };
    let (quote, rest) = statement[start..].split_at(1);
    let path = rest.split(['"', '>']).next().unwrap_or_default();
    if quote == "<" && is_standard_header(path) { Vec::new() } else { vec![create_import("", path, "")] }
}

/// Returns the import that a statement of C++ makes, `using a::Order;` or `namespace x = a::b;`. Its module is the path, and its name is
/// empty if the statement brings in all names of a namespace.
pub(super) fn used_namespace(statement: &str) -> Option<ImportedName> {
    let statement = statement.trim_end_matches(';');
    let (name, path) = match statement.strip_prefix("namespace") {
        Some(alias) => alias.split_once('=')?,
        None => {
            let used = statement.strip_prefix("using")?.trim();
            match used.strip_prefix("namespace ") {
                Some(path) => ("", path),
                None => (used.rsplit("::").next()?, used.trim_start_matches("typename ")),
            }
        }
    };
    let path = path.trim().trim_start_matches("::");
    (!path.contains(char::is_whitespace)).then(|| create_import(name.trim(), &format!("using {path}"), ""))
}

/// Returns whether a header in angle brackets is in the standard library of C or C++; C++ headers have no ending.
fn is_standard_header(path: &str) -> bool {
    match path.strip_suffix(".h") {
        Some(name) => C_HEADERS.split_whitespace().any(|header| header == name),
        None => !path.contains(['.', '/']),
    }
}

#[cfg(test)]
mod tests {
    use crate::extract;

    /// Checks the imports of a file, one on each line: local name, module and name there.
    fn check(path: &str, text: &str, expected: &[&str]) {
        let structure = extract(path, text).structure;
        let shown = structure.imports.iter();
        let shown: Vec<String> =
            shown.map(|import| format!("{} {} {}", import.local, import.module, import.name)).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn imports_name_their_module() {
        check(
            "a.py",
            "import os\nimport a.b as c\nfrom .x import y, z as w\nfrom . import v\nfrom m import *\n",
            &["os os ", "c a.b ", "y .x y", "w .x z", "v . v", " m "],
        );
        check(
            "a.ts",
            "import d, { a as b } from './x.js';\nimport * as n from \"n\";\nexport { e } from './e';\nexport * from './f';\n",
            &["b ./x.js a", "d ./x.js default", "n n ", "e ./e e", " ./f "],
        );
        check(
            "a.go",
            "package a\n\nimport (\n\t\"net/http\"\n\tx \"y/z/v2\"\n\t. \"dot\"\n\t_ \"blank\"\n\t\"k/go-l/v3\"\n)\n",
            &["http net/http ", "x y/z/v2 ", " dot ", "l k/go-l/v3 "],
        );
        check(
            "a.js",
            "const a = require('./b');\nconst { c, d: e } = require(\"./f\");\nconst g = other('./h');\n",
            &["a ./b ", "c ./f c", "e ./f d"],
        );
        check(
            "a.rs",
            "use crate::a::{ // the parts, and\n self, /* a, b */ B, c::{D as E, f}};\npub(crate) use super::g::*;\nuse h;\n",
            &["a crate a", "B crate::a B", "E crate::a::c D", "f crate::a::c f", " super::g ", "h  h"],
        );
        check(
            "A.java",
            "package p.q;\nimport a.b.C;\nimport static a.D.e;\nimport f.*;\n",
            &["C a.b C", "e a.D e", " f "],
        );
        check(
            "a.c",
            "#include <stdio.h>\n#include <vector>\n#include <poll.h>\n#include \"a/b.h\"\n#include \"time.h\" // not <time.h>\n",
            &[" poll.h ", " a/b.h ", " time.h "],
        );
    }
}
