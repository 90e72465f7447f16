//! Tells which names are bound by the definitions around a place.

use std::collections::HashSet;

use crate::extract::outline::Item;
use crate::extract::tags::TagKind;

/// Names that are bound inside of a definition, each with the index of that definition: parameters, variables, type parameters.
pub(super) struct Locals<'a, 'o> {
    around: &'a Around<'a, 'o>,
    bound: HashSet<(&'a str, usize)>,
    types: HashSet<(&'a str, usize)>,
    imported: HashSet<String>,
}

impl<'a, 'o> Locals<'a, 'o> {
    /// Takes names with their positions, and those that the file imports.
    pub(super) fn new(
        around: &'a Around<'a, 'o>,
        bound: &[(&'a str, usize)],
        types: &[(&'a str, usize)],
        imported: HashSet<String>,
    ) -> Self {
        let bound = bound.iter().filter_map(|(name, at)| Some((*name, around.function(*at)?))).collect();
        let types = types.iter().filter_map(|(name, at)| Some((*name, around.innermost(*at)?))).collect();
        Self { around, bound, types, imported }
    }

    /// Whether a name that stands alone is bound around. No type parameter is meant where only a value can be.
    pub(super) fn has(&self, name: &str, at: usize, is_value: bool) -> bool {
        self.has_value(name, at) || !is_value && self.has_type(name, at)
    }

    /// Whether a type parameter of this name is in scope.
    pub(super) fn has_type(&self, name: &str, at: usize) -> bool {
        self.around.all(at).any(|id| self.types.contains(&(name, id)))
    }

    /// Whether a path begins with a type parameter, or with a variable that has the name of an import.
    pub(super) fn shadows(&self, path: &str, at: usize, is_value: bool) -> bool {
        let first = path.split('.').next().unwrap_or_default();
        !is_value && self.has_type(first, at) || self.imported.contains(first) && self.has_value(first, at)
    }

    fn has_value(&self, name: &str, at: usize) -> bool {
        self.around.functions(at).any(|function| self.bound.contains(&(name, function)))
    }
}

/// Finds the definitions around a byte.
pub(super) struct Around<'a, 'o> {
    pub(super) items: &'a [Item<'o>],
    pub(super) parents: &'a [Option<usize>],
}

impl Around<'_, '_> {
    /// Returns the innermost one.
    pub(super) fn innermost(&self, at: usize) -> Option<usize> {
        let n_before = self.items.partition_point(|item| item.node.start <= at);
        let mut id = n_before.checked_sub(1);
        while let Some(current) = id.filter(|id| self.items[*id].node.end <= at) {
            id = self.parents[current];
        }
        id
    }

    /// Returns all around, innermost first.
    fn all(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.innermost(at), |id| self.parents[*id])
    }

    /// Returns the functions around, innermost first.
    fn functions(&self, at: usize) -> impl Iterator<Item = usize> {
        self.all(at).filter(|id| matches!(self.items[*id].kind, TagKind::Function | TagKind::Method))
    }

    fn function(&self, at: usize) -> Option<usize> {
        self.functions(at).next()
    }
}
