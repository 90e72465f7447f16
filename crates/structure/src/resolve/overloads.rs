//! Selects the definitions of one name that a call may mean: by the number of arguments and, in C, without types.

use std::cell::RefCell;

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, UseRole};

use super::known_aliases::KnownAliases;
use super::use_place::{CPP_ENDINGS, LanguageFamily};
use super::{Certainty, DefinitionCandidate, Resolver, StructureStore};

/// Returns whether the language of a file allows several functions of one name in a type.
pub fn has_overloads(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    // A header `.h` may be of C, where one name has only one function.
    ending == "java" || CPP_ENDINGS.contains(&ending)
}

/// Returns whether a definition has the name of the type around it. A use of that name alone means the type.
pub(super) fn is_constructor(structure: &FileStructure, declared: &DeclaredItem) -> bool {
    let parent = structure.find_item(declared.parent);
    parent.is_some_and(|parent| parent.role == DeclaredRole::Type && parent.names == declared.names)
}

impl<S: StructureStore> Resolver<'_, S> {
    /// Adds the constructors of the types that a call creates.
    pub(super) fn with_constructors(
        &self,
        (certainty, found): (Certainty, Vec<DefinitionCandidate>),
        n_arguments: u8,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if certainty == Certainty::ByName {
            return (certainty, found);
        }
        let constructors = self.find_constructors(&found, n_arguments);
        (certainty, [found, constructors].concat())
    }

    /// Returns the constructors of types that take `n_arguments`.
    fn find_constructors(&self, types: &[DefinitionCandidate], n_arguments: u8) -> Vec<DefinitionCandidate> {
        self.candidates
            .iter()
            .filter(|(candidate, structure)| {
                let declared = candidate.declared_in(structure);
                declared.role == DeclaredRole::Member
                    && declared.arity.is_some_and(|arity| arity.accepts(n_arguments))
                    && types
                        .iter()
                        .any(|found| found.file == candidate.file && declared.parent == Some(found.declared))
            })
            .map(|(candidate, _)| *candidate)
            .collect()
    }

    /// Returns a resolver with only the candidates that a call with `n_arguments` may mean; `None` if the call may mean all
    /// of them.
    pub(super) fn with_arity(&self, n_arguments: u8) -> Option<Self> {
        self.restrict_candidates(|_, declared| declared.arity.is_none_or(|arity| arity.accepts(n_arguments)))
    }

    /// Returns a resolver without the types, for a call in a file of C, where a type cannot be called; `None` if a call may
    /// mean all candidates.
    pub(super) fn without_types(&self, path: &str) -> Option<Self> {
        if !path.ends_with(".c") {
            return None; // C++ creates a value by calling its type, also in a header
        }
        self.restrict_candidates(|_, declared| declared.role != DeclaredRole::Type)
    }

    /// Returns a resolver with only the fields, or without them, where the language separates fields from functions; `None` if
    /// the use may mean all candidates.
    pub(super) fn with_kind_of_use(&self, path: &str, role: UseRole) -> Option<Self> {
        let family = LanguageFamily::from_path(path);
        let separates = matches!(family, LanguageFamily::Rust | LanguageFamily::Java);
        match role {
            UseRole::Field if family == LanguageFamily::Python => {
                self.restrict_candidates(is_set_by_constructor)
            }
            UseRole::Field => self.restrict_candidates(|_, declared| declared.role == DeclaredRole::Field),
            UseRole::Call if separates => self.restrict_candidates(|structure, declared| {
                // The constructor of a variant is called: `Shape::Circle(1.0)`, and a component of a record: `order.total()`.
                declared.role != DeclaredRole::Field
                    || declared.names.starts_with(char::is_uppercase)
                    || is_accessor(structure, declared)
            }),
            _ => None,
        }
    }

    fn restrict_candidates(
        &self,
        may_be_meant: impl Fn(&FileStructure, &DeclaredItem) -> bool,
    ) -> Option<Self> {
        let candidates: Vec<_> = self
            .candidates
            .iter()
            .filter(|(candidate, structure)| may_be_meant(structure, candidate.declared_in(structure)))
            .cloned()
            .collect();
        if candidates.len() == self.candidates.len() {
            return None;
        }
        // Aliases are not needed, because they only select the uses.
        let (aliases, wildcards) = (KnownAliases::default(), RefCell::default());
        Some(Self { candidates, aliases, wildcards, ..*self })
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
