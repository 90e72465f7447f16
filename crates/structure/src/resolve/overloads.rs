//! Selects the definitions of one name that a call may mean: by the number of arguments and, in C, without types.

use std::collections::BTreeSet;

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, UseRole};

use super::candidate_kind::CandidateKind;
use super::known_aliases::KnownAliases;
use super::use_place::{CPP_ENDINGS, LanguageFamily};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

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

impl Resolver<'_> {
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
        let is_taking = |declared: &DeclaredItem| {
            declared.role == DeclaredRole::Member
                && declared.arity.is_some_and(|arity| arity.accepts(n_arguments))
        };
        let mut found = Vec::new();
        let files: BTreeSet<FileNumber> = types.iter().map(|of_type| of_type.file).collect();
        for file in files {
            let of_file = self.candidates.in_file(file).filter(|(candidate, structure)| {
                let declared = candidate.declared_in(structure);
                let is_in = |of_type: &DefinitionCandidate| {
                    of_type.file == file && declared.parent == Some(of_type.declared)
                };
                is_taking(declared) && types.iter().any(is_in)
            });
            found.extend(of_file.map(|(candidate, _)| *candidate));
        }
        found
    }

    /// Returns a resolver with only the candidates that a call with `n_arguments` may mean; `None` if the call may mean all
    /// of them.
    pub(super) fn with_arity(&self, n_arguments: u8) -> Option<Self> {
        self.restrict_candidates(CandidateKind::WithArity(n_arguments))
    }

    /// Returns a resolver without the types, for a call in a file of C, where a type cannot be called; `None` if a call may
    /// mean all candidates.
    pub(super) fn without_types(&self, path: &str) -> Option<Self> {
        if !path.ends_with(".c") {
            return None; // C++ creates a value by calling its type, also in a header
        }
        self.restrict_candidates(CandidateKind::NoTypes)
    }

    /// Returns a resolver with only the fields, or without them, where the language separates fields from functions; `None` if
    /// the use may mean all candidates.
    pub(super) fn with_kind_of_use(&self, path: &str, role: UseRole) -> Option<Self> {
        let family = LanguageFamily::from_path(path);
        let separates = matches!(family, LanguageFamily::Rust | LanguageFamily::Java);
        self.restrict_candidates(match role {
            UseRole::Field if family == LanguageFamily::Python => CandidateKind::FieldsSetByConstructor,
            UseRole::Field => CandidateKind::Fields,
            UseRole::Call if separates => CandidateKind::Called,
            _ => return None,
        })
    }

    /// Returns a resolver with only the candidates of a kind; `None` if all candidates are of it. It lacks the aliases, because they
    /// only select the uses.
    fn restrict_candidates(&self, kind: CandidateKind) -> Option<Self> {
        let candidates = self.candidates.restrict_to_kind(kind)?;
        Some(Self { candidates, aliases: KnownAliases::default(), ..*self })
    }
}
