//! Tells functions of one name apart by how many arguments they take.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Candidate, Resolver, Structures};
use crate::types::{DeclaredRole, Structure};

impl<S: Structures> Resolver<'_, S> {
    /// Returns the constructors that a call of types means, which are called like them.
    pub(super) fn constructors(&self, types: &[Candidate], n_arguments: u8) -> Vec<Candidate> {
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
        let takes = |(candidate, structure): &&(Candidate, Arc<Structure>)| {
            let arity = structure.declared[candidate.declared as usize].arity;
            arity.is_none_or(|arity| arity.takes(n_arguments))
        };
        let candidates: Vec<_> = self.candidates.iter().filter(takes).cloned().collect();
        let (paths, structures, name, aliases) =
            (self.paths, self.structures, self.name, self.aliases.clone());
        let all_take = candidates.len() == self.candidates.len();
        (!all_take).then(|| Self {
            paths,
            structures,
            name,
            candidates,
            aliases,
            wildcards: RefCell::default(),
        })
    }

    /// Returns those overloads that have as many parameters as there are arguments, before those with defaults or a variable number.
    pub(super) fn nearest(&self, found: Vec<Candidate>, n_arguments: u8) -> Vec<Candidate> {
        let arity_of = |candidate: &Candidate| {
            self.structures.of(candidate.file).declared[candidate.declared as usize].arity
        };
        let is_near =
            |candidate: &&Candidate| arity_of(candidate).is_none_or(|arity| arity.most == n_arguments);
        let near: Vec<Candidate> = found.iter().filter(is_near).copied().collect();
        if near.is_empty() { found } else { near }
    }
}
