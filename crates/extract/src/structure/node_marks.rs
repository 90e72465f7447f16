//! Marks the kinds of nodes that the walk handles, by the number of the kind.
//!
//! The walk ignores most nodes of a tree. A number is compared at once; the name of a kind would have to be measured, checked
//! and compared with dozens of others.

use std::num::NonZeroU16;

use tree_sitter::Language;

use super::constructor_calls;
use super::languages::{ImportSyntax, NodeKinds, TEMPLATE_PARAMETERS};

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
pub(crate) struct NodeKindMarks {
    nodes: &'static NodeKinds,
    grammar: Language,
    /// The marks, by number of the kind.
    marks: Box<[u8]>,
}

impl NodeKindMarks {
    /// Returns the marks of a grammar; `None` if its nodes are not known.
    pub(crate) fn from_grammar(name: &str, grammar: Language) -> Option<Self> {
        let nodes = super::languages::node_kinds(name)?;
        let marks = (0..grammar.node_kind_count())
            .map(|id| {
                let kind =
                    grammar.node_kind_for_id(id as u16).filter(|_| grammar.node_kind_is_named(id as u16));
                kind.map_or(0, |kind| marks_of_kind(nodes, kind))
            })
            .collect();
        Some(Self { nodes, grammar, marks })
    }

    pub(super) fn node_kinds(&self) -> &'static NodeKinds {
        self.nodes
    }

    pub(super) fn field_name(&self, field: Option<FieldId>) -> Option<&str> {
        self.grammar.field_name_for_id(field?.get())
    }

    /// Returns the marks of a kind by its number; none for the number of an error.
    pub(super) fn marks_of(&self, id: u16) -> u8 {
        self.marks.get(usize::from(id)).copied().unwrap_or_default()
    }
}

fn marks_of_kind(nodes: &NodeKinds, kind: &str) -> u8 {
    let pairs = [nodes.binders, nodes.functions, nodes.methods, nodes.type_parameters];
    let declares = pairs.iter().any(|pairs| pairs.iter().any(|(known, _)| *known == kind))
        || nodes.callables.contains(&kind)
        || kind == TEMPLATE_PARAMETERS
        || nodes.importing == ImportSyntax::Java && constructor_calls::KINDS.contains(&kind)
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
