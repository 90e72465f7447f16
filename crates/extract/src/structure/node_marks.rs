//! Marks the kinds of nodes that the walk handles, by the number of the kind.
//!
//! The walk ignores most nodes of a tree. The marks of a kind are found by its number at once; its name would have to be
//! compared with dozens of others.

use std::num::NonZeroU16;

use tree_sitter::Language;

use super::constructor_calls;
use super::languages::{ImportSyntax, NodeKinds, TEMPLATE_PARAMETERS};

/// Number of a field.
pub(super) type FieldId = NonZeroU16;

/// Mark of a leaf that is a name.
pub(super) const NAME: u8 = 1;
/// Mark of a statement that names the package.
pub(super) const PACKAGE: u8 = 1 << 1;
/// Mark of a statement that imports.
pub(super) const IMPORT: u8 = 1 << 2;
/// Mark of a node that binds names, declares values or type parameters, is a function, or calls a constructor or the loader of a module.
pub(super) const DECLARES: u8 = 1 << 3;

/// Kinds of nodes of Java that bind a variable after its type, and the kind of a declaration whose parameters are fields.
const JAVA_PATTERNS: [&str; 3] = ["record_pattern_component", "type_pattern", RECORD];
/// Kind of the declaration of a record of Java.
pub(super) const RECORD: &str = "record_declaration";

/// Kinds of statements of C++ that bring in names of a namespace, or give it another name.
pub(super) const NAMESPACE_USES: [&str; 2] = ["namespace_alias_definition", "using_declaration"];

/// Kinds of nodes of Python that are read beside declarations.
const PYTHON_NAMES: [&str; 8] = [
    "call",
    "return_statement",
    "yield",
    "as_pattern",
    "dotted_name",
    "splat_pattern",
    "global_statement",
    "nonlocal_statement",
];

/// The marks of the kinds of one grammar.
pub(crate) struct NodeKindMarks {
    nodes: &'static NodeKinds,
    grammar: Language,
    /// The marks, by number of the kind.
    marks: Box<[u8]>,
}

impl NodeKindMarks {
    /// Returns the marks for the grammar of the language `name`; `None` if the uses of the language are not resolved.
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

    /// Returns the marks of a kind by its number; 0 for the number of an error.
    pub(super) fn marks_of(&self, id: u16) -> u8 {
        self.marks.get(usize::from(id)).copied().unwrap_or_default()
    }
}

fn marks_of_kind(nodes: &NodeKinds, kind: &str) -> u8 {
    let pairs = [nodes.binders, nodes.functions, nodes.methods, nodes.type_parameters];
    let declares = pairs.iter().any(|pairs| pairs.iter().any(|(known, _)| *known == kind))
        || nodes.callables.contains(&kind)
        || kind == TEMPLATE_PARAMETERS
        || matches!(kind, "closure_expression" | "function_expression" | "offsetof_expression")
        || nodes.import_syntax == ImportSyntax::Java && constructor_calls::CALL_KINDS.contains(&kind)
        || nodes.import_syntax == ImportSyntax::Java && JAVA_PATTERNS.contains(&kind)
        || nodes.import_syntax == ImportSyntax::JavaScript
            && matches!(kind, "call_expression" | "if_statement" | "subscript_expression")
        || nodes.import_syntax == ImportSyntax::C && NAMESPACE_USES.contains(&kind)
        || nodes.import_syntax == ImportSyntax::Rust && kind == "string_content"
        || nodes.import_syntax == ImportSyntax::Go && kind == "type_case"
        || nodes.import_syntax == ImportSyntax::Python && PYTHON_NAMES.contains(&kind)
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
