//! Selects the candidates that fit the form of a use, such as a call with two arguments or a key of a literal.

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure};

/// The candidates that fit a form of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CandidateKind {
    /// All that take this number of arguments.
    WithArity(u8),
    /// All but types.
    NoTypes,
    Fields,
    /// Fields that the constructor of a type of Python sets.
    FieldsSetByConstructor,
    /// All but fields that are not called.
    Called,
}

impl CandidateKind {
    /// Returns whether a definition is of this kind.
    pub(super) fn includes_definition(self, structure: &FileStructure, declared: &DeclaredItem) -> bool {
        match self {
            Self::WithArity(n_arguments) => declared.arity.is_none_or(|arity| arity.accepts(n_arguments)),
            Self::NoTypes => declared.role != DeclaredRole::Type,
            Self::Fields => declared.role == DeclaredRole::Field,
            Self::FieldsSetByConstructor => is_set_by_constructor(structure, declared),
            // The constructor of a variant is called: `Shape::Circle(1.0)`, and a component of a record: `order.total()`.
            Self::Called => {
                declared.role != DeclaredRole::Field
                    || declared.names.starts_with(char::is_uppercase)
                    || is_accessor(structure, declared)
            }
        }
    }
}

/// Returns whether a keyword in the call of a type of Python sets a field: the body of the type declares it, and the type has no
/// constructor of its own, as in a dataclass.
fn is_set_by_constructor(structure: &FileStructure, declared: &DeclaredItem) -> bool {
    let of_type =
        structure.find_item(declared.parent).is_some_and(|parent| parent.role == DeclaredRole::Type);
    let mut others = structure.declared.iter();
    declared.role == DeclaredRole::Field
        && of_type
        && !others.any(|other| other.parent == declared.parent && other.names == "__init__")
}

/// Returns whether a field is a component of a record that is called to read it, because the record has no method of its name.
fn is_accessor(structure: &FileStructure, field: &DeclaredItem) -> bool {
    let own = structure.declared.iter().filter(|other| {
        other.role == DeclaredRole::Member && other.parent == field.parent && other.names == field.names
    });
    field.arity.is_some() && !own.into_iter().any(|method| method.arity == field.arity)
}
