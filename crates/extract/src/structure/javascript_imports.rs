//! Reads what JavaScript and TypeScript import and export, in the forms of ECMAScript, CommonJS and TypeScript.

use memod_base::types::{ExportedName, ImportedName};
use tree_sitter::Node;

use super::node_text::{create_import, field_text, lines_of, named_children, text_of};

/// Most names that are read of one pattern or object.
const MAX_NAMES: usize = 1_000;
/// Most assignments in a chain: `exports = module.exports = f`.
const MAX_CHAIN: usize = 8;
/// Methods of test libraries that load a module as `require` and `import` do.
const LOADING_METHODS: [&str; 4] = ["requireActual", "importActual", "requireMock", "importMock"];
/// Expressions with the same value as their first child.
const TRANSPARENT: [&str; 5] = [
    "await_expression",
    "parenthesized_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
];

/// Returns the imports of an `import` or of an `export … from`.
pub(super) fn read_statement(node: Node<'_>, text: &str) -> Vec<ImportedName> {
    let children = named_children(node);
    if let Some(clause) = children.iter().find(|child| child.kind() == "import_require_clause") {
        // `import a = require('./b')`
        let local = clause.named_child(0).map_or("", |name| text_of(name, text));
        let module =
            clause.child_by_field_name("source").map_or("", |source| strip_quotes(text_of(source, text)));
        return vec![create_import(local, module, "")];
    }
    let Some(source) = node.child_by_field_name("source") else { return Vec::new() };
    let module = strip_quotes(text_of(source, text));
    let mut found = Vec::new();
    let mut open = children;
    while let Some(child) = open.pop() {
        match child.kind() {
            "import_clause" | "named_imports" | "export_clause" => open.extend(named_children(child)),
            "identifier" => found.push(create_import(text_of(child, text), module, "default")),
            "namespace_import" | "namespace_export" => {
                let name = named_children(child).first().map(|node| strip_quotes(text_of(*node, text)));
                found.push(create_import(name.unwrap_or("default"), module, ""));
            }
            "import_specifier" | "export_specifier" => {
                let name = strip_quotes(field_text(child, "name", text).unwrap_or_default());
                let local = field_text(child, "alias", text).map_or(name, strip_quotes);
                found.push(create_import(local, module, name));
            }
            _ => {}
        }
    }
    if found.is_empty() && node.kind() == "export_statement" && text_of(node, text).contains('*') {
        found.push(create_import("", module, ""));
    }
    found
}

/// Returns the exports of an `export` statement; none for a declaration that is exported by its own name. What the statement
/// exports of another module is an import of the same name.
pub(super) fn read_exports(statement: Node<'_>, text: &str) -> Vec<ExportedName> {
    if statement.kind() != "export_statement" {
        return Vec::new();
    }
    if statement.child_by_field_name("source").is_some() {
        let imports = read_statement(statement, text).into_iter().filter(|import| !import.local.is_empty());
        return imports.map(|import| create_export(&import.local, &import.local)).collect();
    }
    let mut cursor = statement.walk();
    let is_marked = |mark: &str| {
        let mut cursor = statement.walk();
        statement.children(&mut cursor).any(|child| child.kind() == mark)
    };
    if is_marked("=") {
        let value = statement.named_children(&mut cursor).last();
        return value.map_or_else(Vec::new, |value| read_whole("", value, text));
    }
    if is_marked("default") {
        let declared = statement.child_by_field_name("declaration");
        if let Some(name) = declared.and_then(|declared| field_text(declared, "name", text)) {
            return vec![create_export("default", name)];
        }
        let value = statement.child_by_field_name("value").or(declared);
        return value.map_or_else(Vec::new, |value| read_whole("default", value, text));
    }
    let clauses = named_children(statement).into_iter().filter(|child| child.kind() == "export_clause");
    let specifiers = clauses.flat_map(named_children).filter(|child| child.kind() == "export_specifier");
    let exports = specifiers.filter_map(|specifier| {
        let local = strip_quotes(field_text(specifier, "name", text)?);
        Some(create_export(field_text(specifier, "alias", text).map_or(local, strip_quotes), local))
    });
    exports.take(MAX_NAMES).collect()
}

/// Returns the exports and imports of an assignment to `exports` or `module.exports` of CommonJS.
pub(super) fn read_commonjs_exports(
    assignment: Node<'_>,
    text: &str,
) -> (Vec<ExportedName>, Vec<ImportedName>) {
    let none = (Vec::new(), Vec::new());
    let Some(left) = assignment.child_by_field_name("left") else { return none };
    let (Some(target), Some(mut value)) =
        (exported_target(text_of(left, text)), assignment.child_by_field_name("right"))
    else {
        return none;
    };
    for _ in 0..MAX_CHAIN {
        let Some(right) =
            value.child_by_field_name("right").filter(|_| value.kind() == "assignment_expression")
        else {
            break;
        };
        value = right;
    }
    if let Some(module) = loaded_module(value, text) {
        let local = format!("exports.{target}");
        let mut imports = vec![create_import(&local, module, "")];
        if target.is_empty() {
            imports.push(create_import("", module, "")); // its members are members of this file
        }
        return (vec![create_export(target, &local)], imports);
    }
    let spread = named_children(value).into_iter().filter(|child| child.kind() == "spread_element");
    let spread = spread.filter_map(|child| loaded_module(child.named_child(0)?, text));
    let imports = if target.is_empty() && value.kind() == "object" {
        spread.map(|module| create_import("", module, "")).collect()
    } else {
        Vec::new()
    };
    (read_whole(target, value, text), imports)
}

/// Returns the name under which an assignment exports: empty for `module.exports` itself; `None` if it exports nothing.
fn exported_target(left: &str) -> Option<&str> {
    if left == "exports" {
        return Some("");
    }
    let rest = left.strip_prefix("module.exports").or_else(|| left.strip_prefix("exports"))?;
    let name = rest.strip_prefix('.').unwrap_or(rest);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    (is_name && (rest.is_empty() || rest.len() > name.len())).then_some(name)
}

/// Returns the exports of a value that is exported as `name`: what it names, or the members of an object.
fn read_whole(name: &str, value: Node<'_>, text: &str) -> Vec<ExportedName> {
    match value.kind() {
        "identifier" => vec![create_export(name, text_of(value, text))],
        "object" if matches!(name, "" | "default") => {
            let start = if name.is_empty() { String::new() } else { format!("{name}.") };
            let members = named_children(value).into_iter().filter_map(|part| {
                let (key, local) = match part.kind() {
                    "shorthand_property_identifier" => (text_of(part, text), text_of(part, text)),
                    "method_definition" => (field_text(part, "name", text)?, field_text(part, "name", text)?),
                    "pair" => {
                        let key = strip_quotes(field_text(part, "key", text)?);
                        let value = part.child_by_field_name("value")?;
                        (key, if value.kind() == "identifier" { text_of(value, text) } else { key })
                    }
                    _ => return None,
                };
                Some(create_export(&format!("{start}{key}"), local))
            });
            let own = if name.is_empty() { None } else { Some(create_export(name, name)) };
            members.take(MAX_NAMES).chain(own).collect()
        }
        // `module.exports = class A {}` defines `A`; other values are the definition `module.exports` or `default`.
        "class" => vec![create_export(name, field_text(value, "name", text).unwrap_or(own_name(name)))],
        _ => vec![create_export(name, own_name(name))],
    }
}

/// Returns the name of the definition that has no name but that of its export.
fn own_name(export: &str) -> &str {
    if export.is_empty() { "exports" } else { export }
}

/// Returns the imports of a declaration or an assignment whose value loads a module: `const a = require('./b')`, `const { a, b: c
/// } = await import('./d')`, `const e = require('./f').e`.
pub(super) fn read_loaded_names(pattern: Node<'_>, value: Node<'_>, text: &str) -> Vec<ImportedName> {
    let value = unwrap_value(value);
    let member = Some(value).filter(|value| value.kind() == "member_expression");
    let taken_name = member
        .and_then(|member| member.child_by_field_name("property"))
        .map_or("", |node| text_of(node, text));
    let object = member.map_or(Some(value), |member| member.child_by_field_name("object"));
    let Some(module) = object.and_then(|object| loaded_module(object, text)) else { return Vec::new() };
    let line = pattern.start_position().row as u32 + 1;
    let mut found = read_pattern(pattern, module, taken_name, text);
    found.iter_mut().for_each(|import| import.line = line);
    found
}

/// Returns the imports that a pattern binds to a module, or to `taken_name` of it.
fn read_pattern(pattern: Node<'_>, module: &str, taken_name: &str, text: &str) -> Vec<ImportedName> {
    let names = match pattern.kind() {
        "identifier" => return vec![create_import(text_of(pattern, text), module, taken_name)],
        "object_pattern" if taken_name.is_empty() => named_children(pattern),
        _ => return Vec::new(),
    };
    let names = names.into_iter().filter_map(|part| match part.kind() {
        "shorthand_property_identifier_pattern" => {
            Some(create_import(text_of(part, text), module, text_of(part, text)))
        }
        "object_assignment_pattern" => {
            let name = field_text(part, "left", text)?;
            Some(create_import(name, module, name))
        }
        "pair_pattern" => {
            Some(create_import(field_text(part, "value", text)?, module, field_text(part, "key", text)?))
        }
        _ => None,
    });
    names.take(MAX_NAMES).collect()
}

/// Returns the imports that `import('./a').then((a) => …)` binds in its function, and the pattern that binds them.
pub(super) fn read_then<'t>(call: Node<'t>, text: &str) -> Option<(Vec<ImportedName>, Node<'t>)> {
    let callee =
        call.child_by_field_name("function").filter(|callee| callee.kind() == "member_expression")?;
    if field_text(callee, "property", text) != Some("then") {
        return None;
    }
    let module = loaded_module(callee.child_by_field_name("object")?, text)?;
    let function = call.child_by_field_name("arguments")?.named_child(0)?;
    let mut pattern = function.child_by_field_name("parameter").or_else(|| {
        function.child_by_field_name("parameters").and_then(|parameters| parameters.named_child(0))
    })?;
    if let Some(inner) = pattern.child_by_field_name("pattern") {
        pattern = inner; // the parameter of TypeScript
    }
    let mut found = read_pattern(pattern, module, "", text);
    for import in &mut found {
        import.line = pattern.start_position().row as u32 + 1;
        import.scope_lines = Some(lines_of(function));
    }
    Some((found, pattern))
}

/// Returns the module that an expression loads: `require('./a')`, `await import('./a')`.
pub(super) fn loaded_module<'a>(value: Node<'_>, text: &'a str) -> Option<&'a str> {
    let call = Some(unwrap_value(value)).filter(|value| value.kind() == "call_expression")?;
    // The grammar reads `await a.load<T>(…)` as a call of `await a.load`.
    let callee = unwrap_value(call.child_by_field_name("function")?);
    let is_loading = match callee.kind() {
        "import" => true,
        "identifier" => text_of(callee, text) == "require",
        "member_expression" => {
            LOADING_METHODS.contains(&field_text(callee, "property", text).unwrap_or_default())
        }
        _ => false,
    };
    let arguments = call.child_by_field_name("arguments").filter(|_| is_loading)?;
    let argument = named_children(arguments).into_iter().find(|argument| argument.kind() != "comment")?;
    let is_plain = match argument.kind() {
        "string" => true,
        "template_string" => named_children(argument).iter().all(|part| part.kind() == "string_fragment"),
        _ => false,
    };
    is_plain.then(|| strip_quotes(text_of(argument, text))).filter(|module| !module.is_empty())
}

/// Returns the name by which a file refers to a module that an expression loads without binding it.
pub(super) fn module_key(module: &str) -> String {
    // A path of names is joined by dots, so the key has none.
    format!("import#{}", module.replace('%', "%25").replace('.', "%2E"))
}

/// Returns an expression without `await`, brackets and assertions of types around it.
fn unwrap_value(mut node: Node<'_>) -> Node<'_> {
    for _ in 0..MAX_CHAIN {
        match node.named_child(0) {
            Some(inner) if TRANSPARENT.contains(&node.kind()) => node = inner,
            _ => break,
        }
    }
    node
}

fn create_export(name: &str, local: &str) -> ExportedName {
    ExportedName { name: name.to_owned(), local: local.to_owned() }
}

fn strip_quotes(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}
