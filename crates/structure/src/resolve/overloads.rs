//! Selects the definitions of one name that a call may mean: by the number of arguments and, in C, without types.

use std::rc::Rc;

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, UseRole};

use super::candidate_kind::CandidateKind;
use super::use_place::{CPP_ENDINGS, LanguageFamily};
use super::{Certainty, DefinitionCandidate, Resolver};

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
    pub(super) fn with_arity(&self, n_arguments: u8) -> Option<Rc<Self>> {
        self.restrict_candidates(CandidateKind::WithArity(n_arguments))
    }

    /// Returns a resolver without the types, for a call in a file of C, where a type cannot be called; `None` if a call may
    /// mean all candidates.
    pub(super) fn without_types(&self, path: &str) -> Option<Rc<Self>> {
        if !path.ends_with(".c") {
            return None; // C++ creates a value by calling its type, also in a header
        }
        self.restrict_candidates(CandidateKind::NoTypes)
    }

    /// Returns a resolver with only the fields, or without them, where the language separates fields from functions; `None` if
    /// the use may mean all candidates.
    pub(super) fn with_kind_of_use(&self, path: &str, role: UseRole) -> Option<Rc<Self>> {
        let family = LanguageFamily::from_path(path);
        let separates = matches!(family, LanguageFamily::Rust | LanguageFamily::Java);
        self.restrict_candidates(match role {
            UseRole::Field if family == LanguageFamily::Python => CandidateKind::FieldsSetByConstructor,
            UseRole::Field => CandidateKind::Fields,
            UseRole::Call if separates => CandidateKind::Called,
            _ => return None,
        })
    }

    /// Returns a resolver with only the candidates of a kind; `None` if all candidates are of it. The resolver is made once for all
    /// uses, and lacks the aliases, because they only select the uses.
    fn restrict_candidates(&self, kind: CandidateKind) -> Option<Rc<Self>> {
        let known = self.restricted.borrow().get(&kind).cloned();
        known.unwrap_or_else(|| {
            let is_of_kind = |structure: &FileStructure, candidate: DefinitionCandidate| {
                kind.includes_definition(structure, candidate.declared_in(structure))
            };
            let of_kind =
                self.candidates.iter().filter(|(candidate, structure)| is_of_kind(structure, *candidate));
            let of_kind: Vec<DefinitionCandidate> = of_kind.map(|(candidate, _)| *candidate).collect();
            let restricted = (of_kind.len() < self.candidates.len())
                .then(|| Rc::new(Self::new(self.paths, self.structures, self.name, &of_kind)));
            self.restricted.borrow_mut().insert(kind, restricted.clone());
            restricted
        })
    }
}
