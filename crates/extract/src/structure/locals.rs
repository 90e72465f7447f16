//! Tells which names are bound by the definitions around a place.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::outline::Item;
use crate::tags::TagKind;

/// Names that are bound inside of a definition: parameters and variables, with the index of their function, and type parameters.
pub(super) struct Locals<'a, 'o> {
    around: &'a Around<'a, 'o>,
    bound: HashSet<(&'a str, usize)>,
    /// The scopes of each type parameter: bytes, ascending, without overlap.
    types: HashMap<&'a str, Vec<Range<usize>>>,
    imported: HashSet<String>,
}

impl<'a, 'o> Locals<'a, 'o> {
    /// Takes names with their positions, type parameters with the bytes where they hold, and names that the file imports.
    pub(super) fn new(
        around: &'a Around<'a, 'o>,
        bound: &[(&'a str, usize)],
        mut type_parameters: Vec<(&'a str, Range<usize>)>,
        imported: HashSet<String>,
    ) -> Self {
        let bound = bound.iter().filter_map(|(name, at)| Some((*name, around.function(*at)?))).collect();
        type_parameters.sort_by_key(|(_, scope)| scope.start);
        let mut types: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        for (name, scope) in type_parameters {
            let ranges = types.entry(name).or_default();
            match ranges.last_mut().filter(|last| scope.start <= last.end) {
                Some(last) => last.end = last.end.max(scope.end),
                None => ranges.push(scope),
            }
        }
        Self { around, bound, types, imported }
    }

    /// Whether a name that stands alone is bound around. A value is never a type parameter.
    pub(super) fn has(&self, name: &str, at: usize, is_value: bool) -> bool {
        self.has_value(name, at) || !is_value && self.has_type(name, at)
    }

    /// Whether a type parameter of this name is in scope.
    pub(super) fn has_type(&self, name: &str, at: usize) -> bool {
        let Some(ranges) = self.types.get(name) else { return false };
        let n_before = ranges.partition_point(|scope| scope.start <= at);
        n_before.checked_sub(1).is_some_and(|last| ranges[last].contains(&at))
    }

    /// Whether a path begins with a type parameter, or with a variable that has the name of an import. A path of values never begins
    /// with a type parameter.
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

    /// Returns the functions around, innermost first.
    fn functions(&self, at: usize) -> impl Iterator<Item = usize> {
        let around = std::iter::successors(self.innermost(at), |id| self.parents[*id]);
        around.filter(|id| matches!(self.items[*id].kind, TagKind::Function | TagKind::Method))
    }

    fn function(&self, at: usize) -> Option<usize> {
        self.functions(at).next()
    }
}
