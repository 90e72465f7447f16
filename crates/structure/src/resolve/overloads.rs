//! Tells which definitions of one name a call may mean: by the number of its arguments, in C by whether they are types.

use std::cell::RefCell;
use std::sync::Arc;

use memod_base::types::{Declared, DeclaredRole, Structure};

use super::place::CPP;
use super::{Candidate, Certainty, Resolver, Structures};

/// Whether a file is in a language in which one type may have several functions of one name.
pub fn has_overloads(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    // A header `.h` is of C as well, where one name has one function.
    ending == "java" || CPP.contains(&ending)
}

/// Whether a definition has the name of the type that it is in. That name alone means the type.
pub(super) fn is_constructor(structure: &Structure, declared: &Declared) -> bool {
    let of = declared.parent.and_then(|parent| structure.declared.get(parent as usize));
    of.is_some_and(|of| of.role == DeclaredRole::Type && of.names == declared.names)
}

impl<S: Structures> Resolver<'_, S> {
    /// Adds constructors to the types that a call makes.
    pub(super) fn with_constructors(
        &self,
        (certainty, found): (Certainty, Vec<Candidate>),
        n_arguments: u8,
    ) -> (Certainty, Vec<Candidate>) {
        if certainty == Certainty::ByName {
            return (certainty, found);
        }
        let constructors = self.constructors(&found, n_arguments);
        (certainty, [found, constructors].concat())
    }

    /// Returns the constructors of types that take so many arguments.
    fn constructors(&self, types: &[Candidate], n_arguments: u8) -> Vec<Candidate> {
        let is_constructor = |(candidate, structure): &&(Candidate, Arc<Structure>)| {
            let declared = &structure.declared[candidate.declared as usize];
            let is_inside =
                |of: &Candidate| of.file == candidate.file && declared.parent == Some(of.declared);
            declared.role == DeclaredRole::Member
                && declared.arity.is_some_and(|arity| arity.takes(n_arguments))
                && types.iter().any(is_inside)
        };
        self.candidates.iter().filter(is_constructor).map(|(candidate, _)| *candidate).collect()
    }

    /// Returns a resolver that knows only the candidates that a call with so many arguments may mean; `None` if all may be meant.
    pub(super) fn taking(&self, n_arguments: u8) -> Option<Self> {
        self.among(|declared| declared.arity.is_none_or(|arity| arity.takes(n_arguments)))
    }

    /// Returns a resolver that knows only the candidates that a call in a file may mean; `None` if all may be meant. The names of
    /// types of C are apart from those of functions, and a type is not called.
    pub(super) fn callable(&self, path: &str) -> Option<Self> {
        if !path.ends_with(".c") {
            return None; // C++ makes a value by calling the type, also in a header
        }
        self.among(|declared| declared.role != DeclaredRole::Type)
    }

    fn among(&self, may_be_meant: impl Fn(&Declared) -> bool) -> Option<Self> {
        let is_kept = |(candidate, structure): &&(Candidate, Arc<Structure>)| {
            may_be_meant(&structure.declared[candidate.declared as usize])
        };
        if self.candidates.iter().all(|candidate| is_kept(&candidate)) {
            return None;
        }
        let candidates = self.candidates.iter().filter(is_kept).cloned().collect();
        // Aliases only say which uses are looked at.
        let (aliases, wildcards) = (Vec::new(), RefCell::default());
        Some(Self { candidates, aliases, wildcards, ..*self })
    }
}
