//! Nests definitions whose titles are known.

use std::cmp::Reverse;
use std::ops::Range;

use super::outline::{
    DefinitionItem, DefinitionOutline, MAX_NESTING, find_leading_nodes, line_start, widen_to_line_ends,
};
use super::tags::{LeadingNode, TagKind};

/// A definition that a reader found without a grammar.
#[derive(Debug)]
pub(crate) struct NamedItem<'a> {
    pub(crate) kind: TagKind,
    /// The own names, slices of the text; at least one.
    pub(crate) names: Vec<&'a str>,
    /// The qualified name.
    pub(crate) title: String,
    /// Bytes from the first word of the definition to its end.
    pub(crate) node: Range<usize>,
}

/// Nests the definitions of `text` by their bytes. Comments directly above a definition belong to it.
pub(crate) fn nest_items<'a>(
    text: &'a str,
    mut named: Vec<NamedItem<'a>>,
    comments: &[Range<usize>],
) -> DefinitionOutline<'a> {
    let leading: Vec<_> =
        comments.iter().map(|bytes| LeadingNode { bytes: bytes.clone(), is_doc: true }).collect();
    named.sort_by_key(|item| (item.node.start, Reverse(item.node.end)));
    let (mut items, mut roots) = (Vec::<DefinitionItem<'_>>::new(), Vec::new());
    let mut open: Vec<usize> = Vec::new();
    for NamedItem { kind, names, title, node } in named {
        while open.last().is_some_and(|id| items[*id].node.end <= node.start) {
            open.pop();
        }
        let parent = open.last().copied();
        // A definition that ends after the one around it would overlap with the next.
        let end = parent.map_or(node.end, |id| node.end.min(items[id].node.end));
        let siblings = parent.map_or(&roots, |id| &items[id].children);
        let last_sibling = siblings.last().map(|id: &usize| items[*id].node.end);
        let floor = last_sibling.or(parent.map(|id| items[id].node.start + 1)).unwrap_or(0);
        if open.len() >= MAX_NESTING || node.start < floor {
            continue;
        }
        let (start, docs) = find_leading_nodes(text, &leading, node.start, floor);
        let node = node.start..end;
        let span = line_start(text, start, floor)..end;
        let id = items.len();
        items.push(DefinitionItem { kind, names, title, span, node, body: None, docs, children: Vec::new() });
        match parent {
            Some(parent) => items[parent].children.push(id),
            None => roots.push(id),
        }
        open.push(id);
    }
    widen_to_line_ends(text, &mut items, &roots, text.len());
    for id in 0..items.len() {
        let children = std::mem::take(&mut items[id].children);
        let limit = items[id].span.end;
        widen_to_line_ends(text, &mut items, &children, limit);
        items[id].children = children;
    }
    DefinitionOutline { items, roots, file_doc: Vec::new() }
}
