//! Tells what the walk does at a node by the number of its kind.
//!
//! Most nodes of a tree mean nothing to the walk. A number is compared at once, the name of a kind has to be measured, checked
//! and compared with dozens of others.

use std::num::NonZeroU16;

use tree_sitter::Language;

use super::constructor_calls;
use super::languages::{Importing, Nodes, TEMPLATE_PARAMETERS};

/// Number of a field.
pub(super) type FieldId = NonZeroU16;

/// A leaf that is a name.
pub(super) const NAME: u8 = 1;
/// A statement that names the package.
pub(super) const PACKAGE: u8 = 1 << 1;
/// A statement that imports.
pub(super) const IMPORT: u8 = 1 << 2;
/// Binds names, declares values or type parameters, is a function or calls a constructor.
pub(super) const DECLARES: u8 = 1 << 3;

/// The marks of the kinds of one grammar.
pub(crate) struct NodeMarks {
    nodes: &'static Nodes,
    grammar: Language,
    /// By number of the kind.
    marks: Box<[u8]>,
}

impl NodeMarks {
    /// Returns the marks of a grammar; `None` if its nodes are not known here.
    pub(crate) fn of(name: &str, grammar: Language) -> Option<Self> {
        let nodes = super::languages::nodes(name)?;
        let of_kind = |id: usize| {
            let kind = grammar.node_kind_for_id(id as u16).filter(|_| grammar.node_kind_is_named(id as u16));
            kind.map_or(0, |kind| marks(nodes, kind))
        };
        let marks = (0..grammar.node_kind_count()).map(of_kind).collect();
        Some(Self { nodes, grammar, marks })
    }

    pub(super) fn nodes(&self) -> &'static Nodes {
        self.nodes
    }

    pub(super) fn field_name(&self, field: Option<FieldId>) -> Option<&str> {
        self.grammar.field_name_for_id(field?.get())
    }

    /// Returns the marks of a kind by its number; none for that of an error.
    pub(super) fn of_kind(&self, id: u16) -> u8 {
        self.marks.get(usize::from(id)).copied().unwrap_or_default()
    }
}

fn marks(nodes: &Nodes, kind: &str) -> u8 {
    let has = |pairs: &[(&str, &str)]| pairs.iter().any(|(of, _)| *of == kind);
    let declares = has(nodes.binders)
        || has(nodes.functions)
        || has(nodes.methods)
        || has(nodes.type_parameters)
        || nodes.callables.contains(&kind)
        || kind == TEMPLATE_PARAMETERS
        || nodes.importing == Importing::Java && constructor_calls::KINDS.contains(&kind)
        || nodes.values.iter().any(|declaration| declaration.0 == kind);
    [
        (NAME, nodes.names.contains(&kind)),
        (PACKAGE, nodes.packages.contains(&kind)),
        (IMPORT, nodes.imports.contains(&kind)),
        (DECLARES, declares),
    ]
    .into_iter()
    .filter(|(_, is)| *is)
    .fold(0, |all, (mark, _)| all | mark)
}
