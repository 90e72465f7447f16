//! Reads the text and the parts of nodes.

use memod_base::types::ImportedName;
use tree_sitter::Node;

pub(super) fn create_import(local: &str, module: &str, name: &str) -> ImportedName {
    ImportedName {
        local: local.to_owned(),
        module: module.to_owned(),
        name: name.to_owned(),
        line: 0,
        scope_lines: None,
    }
}

pub(super) fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

pub(super) fn field_text<'a>(node: Node<'_>, field: &str, text: &'a str) -> Option<&'a str> {
    node.child_by_field_name(field).map(|node| text_of(node, text))
}

pub(super) fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}

/// Returns the first and the last line of a node, 1-based.
pub(super) fn lines_of(node: Node<'_>) -> (u32, u32) {
    (node.start_position().row as u32 + 1, node.end_position().row as u32 + 1)
}
