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
        self.restrict_candidates(|declared| declared.arity.is_none_or(|arity| arity.accepts(n_arguments)))
    }

    /// Returns a resolver without the types, for a call in a file of C, where a type cannot be called; `None` if a call may
    /// mean all candidates.
    pub(super) fn without_types(&self, path: &str) -> Option<Self> {
        if !path.ends_with(".c") {
            return None; // C++ creates a value by calling its type, also in a header
        }
        self.restrict_candidates(|declared| declared.role != DeclaredRole::Type)
    }

    /// Returns a resolver with only the fields, or without them, where the language separates fields from functions; `None` if
    /// the use may mean all candidates.
    pub(super) fn with_kind_of_use(&self, path: &str, role: UseRole) -> Option<Self> {
        let separates =
            matches!(LanguageFamily::from_path(path), LanguageFamily::Rust | LanguageFamily::Java);
        match role {
            UseRole::Field => self.restrict_candidates(|declared| declared.role == DeclaredRole::Field),
            UseRole::Call if separates => self.restrict_candidates(|declared| {
                // The constructor of a variant is called: `Shape::Circle(1.0)`.
                declared.role != DeclaredRole::Field || declared.names.starts_with(char::is_uppercase)
            }),
            _ => None,
        }
    }

    fn restrict_candidates(&self, may_be_meant: impl Fn(&DeclaredItem) -> bool) -> Option<Self> {
        if self.candidates.iter().all(|(candidate, structure)| may_be_meant(candidate.declared_in(structure)))
        {
            return None;
        }
        let candidates = self
            .candidates
            .iter()
            .filter(|(candidate, structure)| may_be_meant(candidate.declared_in(structure)))
            .cloned()
            .collect();
        // Aliases are not needed, because they only select the uses.
        let (aliases, wildcards) = (KnownAliases::default(), RefCell::default());
        Some(Self { candidates, aliases, wildcards, ..*self })
    }
}
