//! Records the modules that JavaScript loads inside of expressions, and what it sets `module.exports` to.

use std::borrow::Cow;

use memod_base::types::{ImportedName, UseRole};
use tree_sitter::Node;

use super::javascript_imports::{
    loaded_module, module_key, read_commonjs_exports, read_loaded_names, read_then,
};
use super::node_text::{create_import, text_of};
use super::walker::{SHORTHAND_PATTERN, TreeWalker};
use super::{FoundReceiver, FoundUse};

impl<'t> TreeWalker<'_, 't> {
    /// Records what a declaration, an assignment or a call imports and exports.
    pub(super) fn add_loaded_modules(&mut self, node: Node<'t>, kind: &str) {
        match kind {
            "variable_declarator" => {
                let value = node.child_by_field_name("value");
                let pattern = node.child_by_field_name("name");
                if let (Some(pattern), Some(value)) = (pattern, value) {
                    let scope = self.lines_of_block();
                    let mut found = read_loaded_names(pattern, value, self.text);
                    found.iter_mut().for_each(|import| import.scope_lines = scope);
                    self.add_bound_imports(pattern, found);
                }
            }
            "assignment_expression" => {
                let (exports, imports) = read_commonjs_exports(node, self.text);
                self.found.exports.extend(exports);
                let line = node.start_position().row as u32 + 1;
                self.found.imports.extend(imports.into_iter().map(|import| ImportedName { line, ..import }));
                let (left, right) = (node.child_by_field_name("left"), node.child_by_field_name("right"));
                if let (Some(left), Some(right)) = (left.filter(|left| left.kind() == "identifier"), right) {
                    let scope = self.make_variable_import(text_of(left, self.text));
                    let mut found = read_loaded_names(left, right, self.text);
                    found.iter_mut().for_each(|import| import.scope_lines = scope);
                    self.found.imports.extend(found);
                }
            }
            "call_expression" => {
                if let Some((found, pattern)) = read_then(node, self.text) {
                    self.add_bound_imports(pattern, found);
                }
                self.add_loading_call(node);
            }
            _ => {}
        }
    }

    fn add_bound_imports(&mut self, pattern: Node<'t>, found: Vec<ImportedName>) {
        if !found.is_empty() {
            self.imported_patterns.insert(pattern.id());
            // A parameter of TypeScript is a node around its pattern.
            self.imported_patterns.extend(pattern.parent().map(|parent| parent.id()));
            self.found.imports.extend(found);
            let names = self.names_in(pattern, |_, field| field != Some("right"));
            for name in names.into_iter().filter(|name| name.kind() == SHORTHAND_PATTERN) {
                self.add_import_name(name);
            }
        }
    }

    /// Records a call that loads a module. The function `() => import('./a')` gives the module to a caller such as `lazy` or a
    /// router, which takes its default export.
    fn add_loading_call(&mut self, call: Node<'t>) {
        let Some(module) = loaded_module(call, self.text) else { return };
        let mut around = self.path.iter().rev().map(|(node, _)| node.kind());
        if around.find(|kind| *kind != "await_expression") == Some("variable_declarator") {
            return; // the declared names are imports themselves
        }
        let key = module_key(module);
        let line = call.start_position().row as u32 + 1;
        if !self.found.imports.iter().any(|import| import.local == key) {
            self.found.imports.push(ImportedName { line, ..create_import(&key, module, "") });
        }
        let is_dynamic = call.child_by_field_name("function").is_some_and(|callee| callee.kind() == "import");
        let is_given = self.path.last().is_some_and(|(around, _)| around.kind() == "arrow_function");
        if is_dynamic && is_given {
            self.found.uses.push(FoundUse {
                name: Cow::Borrowed("default"),
                at: call.start_byte(),
                receiver: FoundReceiver::Named(key),
                role: UseRole::Mention,
                n_arguments: None,
                is_value: true,
            });
        }
    }
}
