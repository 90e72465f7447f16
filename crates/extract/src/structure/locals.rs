//! Looks up whether a name is bound by a definition around a place: as a parameter, a variable or a type parameter.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::definitions::outline::DefinitionItem;
use crate::definitions::tags::TagKind;

/// The names that are bound inside of definitions: parameters and variables, with the index of their function, and type
/// parameters.
pub(super) struct LocalNames<'a, 'o> {
    around: &'a DefinitionIndex<'a, 'o>,
    bound: HashSet<(&'a str, usize)>,
    /// Variables that hide no calls.
    bound_values: HashSet<(&'a str, usize)>,
    /// The scopes of each type parameter, in bytes, ascending and without overlap.
    type_parameter_scopes: HashMap<&'a str, Vec<Range<usize>>>,
    /// The scopes of each name that is bound outside of definitions, like those of type parameters.
    scopes: HashMap<&'a str, Vec<Range<usize>>>,
    /// The scopes of each name that is bound in a block.
    block_scopes: HashMap<&'a str, Vec<Range<usize>>>,
    imported: HashSet<String>,
}

impl<'a, 'o> LocalNames<'a, 'o> {
    /// Creates the lookup from names that are bound and names that are not, with their positions; type parameters, names that are
    /// bound outside of definitions, and names that are bound in blocks, all with their scopes in bytes; and imported names.
    pub(super) fn new(
        around: &'a DefinitionIndex<'a, 'o>,
        (bound, unbound): (PlacedNames<'_, 'a>, PlacedNames<'_, 'a>),
        (type_parameters, scoped, in_blocks): (ScopedNames<'a>, ScopedNames<'a>, ScopedNames<'a>),
        imported: HashSet<String>,
    ) -> Self {
        let in_function = |names: PlacedNames<'_, 'a>| -> HashSet<(&'a str, usize)> {
            names.iter().filter_map(|(name, at)| Some((*name, around.innermost_function(*at)?))).collect()
        };
        let mut bound = in_function(bound);
        in_function(unbound).iter().for_each(|outer| {
            bound.remove(outer);
        });
        let [type_parameter_scopes, scopes, block_scopes] =
            [type_parameters, scoped, in_blocks].map(unite_scopes);
        let bound_values = HashSet::new();
        Self { around, bound, bound_values, type_parameter_scopes, scopes, block_scopes, imported }
    }

    /// Adds variables that hide uses of their names, and no calls.
    pub(super) fn with_values(mut self, values: PlacedNames<'_, 'a>) -> Self {
        let around = self.around;
        let values = values.iter().filter_map(|(name, at)| Some((*name, around.innermost_function(*at)?)));
        self.bound_values.extend(values);
        self
    }

    /// Returns whether a variable that hides no calls has a name at byte `at`.
    pub(super) fn is_bound_value(&self, name: &str, at: usize) -> bool {
        self.around.functions_around(at).any(|function| self.bound_values.contains(&(name, function)))
    }

    /// Returns whether a name without a receiver is bound at byte `at`. A value is never a type parameter.
    pub(super) fn is_bound(&self, name: &str, at: usize, is_value: bool) -> bool {
        self.is_variable(name, at) || !is_value && self.has_type_parameter(name, at)
    }

    /// Returns whether a type parameter of this name is in scope at byte `at`.
    pub(super) fn has_type_parameter(&self, name: &str, at: usize) -> bool {
        is_in_scope(&self.type_parameter_scopes, name, at)
    }

    /// Returns whether a path at byte `at` begins with a type parameter, or with a variable that has the name of an import. A
    /// path of values never begins with a type parameter.
    pub(super) fn starts_with_local_name(&self, path: &str, at: usize, is_value: bool) -> bool {
        let first = path.split('.').next().unwrap_or_default();
        !is_value && self.has_type_parameter(first, at)
            || self.imported.contains(first) && self.is_variable(first, at)
            || is_in_scope(&self.scopes, first, at)
    }

    fn is_variable(&self, name: &str, at: usize) -> bool {
        self.around.functions_around(at).any(|function| self.bound.contains(&(name, function)))
            || is_in_scope(&self.scopes, name, at)
            || is_in_scope(&self.block_scopes, name, at)
    }
}

/// Names with their byte offsets.
type PlacedNames<'n, 'a> = &'n [(&'a str, usize)];

/// Names with the bytes in which each is known.
type ScopedNames<'a> = Vec<(&'a str, Range<usize>)>;

/// Returns the scopes of each name, ascending and without overlap.
fn unite_scopes(mut names: ScopedNames<'_>) -> HashMap<&str, Vec<Range<usize>>> {
    names.sort_by_key(|(_, scope)| scope.start);
    let mut scopes: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
    for (name, scope) in names {
        let ranges = scopes.entry(name).or_default();
        match ranges.last_mut().filter(|last| scope.start <= last.end) {
            Some(last) => last.end = last.end.max(scope.end),
            None => ranges.push(scope),
        }
    }
    scopes
}

fn is_in_scope(scopes: &HashMap<&str, Vec<Range<usize>>>, name: &str, at: usize) -> bool {
    let Some(ranges) = scopes.get(name) else { return false };
    let n_before = ranges.partition_point(|scope| scope.start <= at);
    n_before.checked_sub(1).is_some_and(|last| ranges[last].contains(&at))
}

/// The definitions of a file, to find those around a byte.
pub(super) struct DefinitionIndex<'a, 'o> {
    pub(super) items: &'a [DefinitionItem<'o>],
    pub(super) parents: &'a [Option<usize>],
}

impl DefinitionIndex<'_, '_> {
    /// Returns the index of the innermost definition around a byte.
    pub(super) fn innermost_definition(&self, at: usize) -> Option<usize> {
        let n_before = self.items.partition_point(|item| item.node.start <= at);
        let mut id = n_before.checked_sub(1);
        while let Some(current) = id.filter(|id| self.items[*id].node.end <= at) {
            id = self.parents[current];
        }
        id
    }

    /// Returns the indices of the functions and methods around a byte, innermost first.
    fn functions_around(&self, at: usize) -> impl Iterator<Item = usize> {
        let around = std::iter::successors(self.innermost_definition(at), |id| self.parents[*id]);
        around.filter(|id| matches!(self.items[*id].kind, TagKind::Function | TagKind::Method))
    }

    fn innermost_function(&self, at: usize) -> Option<usize> {
        self.functions_around(at).next()
    }
}
