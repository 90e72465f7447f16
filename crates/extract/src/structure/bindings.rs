//! Numbers the variables of one name in a file, so that none is taken for another.
//!
//! In `fn f(o: Order) { list.map(|o| o.total()) }`, the path of `total` is `o~2`, and not the `o` of the function.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memod_base::types::LOCAL_MARK;

use super::locals::DefinitionIndex;

/// A name that is bound in a block, a clause or a function.
pub(super) struct FoundBinding<'a> {
    pub(super) name: &'a str,
    pub(super) at: usize,
    /// The bytes in which the name is known.
    pub(super) scope: Range<usize>,
    /// Whether the node that binds the name declares it for this scope, and does not set what may be set elsewhere.
    pub(super) is_declared: bool,
    /// Whether the parts of the function outside of this scope have the name, too, as in Python.
    pub(super) is_inner: bool,
    /// Whether a variable of the same block is set again, as by `:=` of Go, if there is one.
    pub(super) may_be_known: bool,
}

/// The variable of one name in one scope.
struct Variable {
    scope: Range<usize>,
    /// Byte of the first name that binds it.
    at: usize,
    /// Whether other bytes bind it as well.
    has_others: bool,
    is_inner: bool,
    /// Index of the variable of the same name around this one.
    outer: Option<usize>,
    is_marked: bool,
}

/// The variables of a file by name, ascending by the start of their scope.
pub(super) struct Bindings<'a> {
    variables: HashMap<&'a str, Vec<Variable>>,
    /// The variable that the name at a byte declares, as an index.
    declared_at: HashMap<(&'a str, usize), usize>,
    /// The names at bytes that set a declared variable again, which keeps its type.
    set_again: HashSet<(&'a str, usize)>,
}

impl<'a> Bindings<'a> {
    /// Creates the lookup. `outer` are the names that a file imports, defines, or sets outside of functions; `unbound` are names that a
    /// function does not bind, although it sets them.
    pub(super) fn new(
        found: Vec<FoundBinding<'a>>,
        unbound: &[(&'a str, usize)],
        outer: &HashSet<&str>,
        around: &DefinitionIndex<'_, '_>,
    ) -> Self {
        let mut by_name: HashMap<&'a str, Vec<FoundBinding<'a>>> = HashMap::new();
        for binding in found {
            by_name.entry(binding.name).or_default().push(binding);
        }
        let mut unbound_at: HashMap<&str, Vec<usize>> = HashMap::new();
        for (name, at) in unbound {
            unbound_at.entry(name).or_default().push(*at);
        }
        let mut bindings =
            Self { variables: HashMap::new(), declared_at: HashMap::new(), set_again: HashSet::new() };
        for (name, mut found) in by_name {
            found.sort_by_key(|binding| (binding.scope.start, usize::MAX - binding.scope.end));
            if let Some(unbound) = unbound_at.get(name) {
                remove_unbound(&mut found, unbound);
            }
            let mut variables = bindings.unite_scopes(name, &found);
            mark_hiding(&mut variables, outer.contains(name), around);
            bindings.variables.insert(name, variables);
        }
        bindings
    }

    /// Unites the bindings of one scope to a variable, and finds the variables around each.
    fn unite_scopes(&mut self, name: &'a str, found: &[FoundBinding<'a>]) -> Vec<Variable> {
        let mut variables: Vec<Variable> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for binding in found {
            while open.last().is_some_and(|last| variables[*last].scope.end <= binding.scope.start) {
                open.pop();
            }
            let outer = open.last().copied();
            let same = outer.filter(|outer| {
                let scope = &variables[*outer].scope;
                *scope == binding.scope || binding.may_be_known && scope.end == binding.scope.end
            });
            let variable = same.unwrap_or(variables.len());
            if same.is_some() {
                variables[variable].has_others |= variables[variable].at != binding.at;
                if binding.may_be_known && variables[variable].at != binding.at {
                    self.set_again.insert((name, binding.at));
                }
            } else {
                open.push(variable);
                let (scope, at, is_inner) = (binding.scope.clone(), binding.at, binding.is_inner);
                variables.push(Variable { scope, at, has_others: false, is_inner, outer, is_marked: false });
            }
            if binding.is_declared {
                self.declared_at.insert((name, binding.at), variable);
            }
        }
        variables
    }

    /// Returns whether the name at a byte sets a variable again whose type is fixed.
    pub(super) fn is_set_again(&self, name: &str, at: usize) -> bool {
        self.set_again.contains(&(name, at))
    }

    /// Returns `path` with a number behind its first name, if that is a variable at byte `at` which may be taken for another.
    pub(super) fn rename_path(&self, path: &str, at: usize) -> Option<String> {
        let first = first_name(path);
        let variable = self.find_innermost(first, at)?;
        self.mark_path(path, first, variable)
    }

    /// Returns the names of a value that is set at byte `at`, likewise: of the variable that is declared there, and of the one around, if
    /// that has the value as well.
    pub(super) fn rename_value(&self, name: &str, at: usize) -> (String, Option<String>) {
        let mark = |variable: Option<usize>| {
            variable
                .and_then(|variable| self.mark_path(name, name, variable))
                .unwrap_or_else(|| name.to_owned())
        };
        let around = self.find_innermost(name, at);
        let declared = self.declared_at.get(&(name, at)).copied();
        let is_leaked = declared.is_some_and(|declared| self.variables[name][declared].is_inner);
        let of_function = (is_leaked && declared != around).then(|| mark(around));
        let own = mark(declared.or(around));
        let of_function = of_function.filter(|of_function| *of_function != own);
        (own, of_function)
    }

    /// Returns the expression of a value that is set at byte `at`, likewise. A parameter is not known in its own expression.
    pub(super) fn rename_expression(&self, path: &str, name: &str, at: usize) -> Option<String> {
        let first = first_name(path);
        let mut variable = self.find_innermost(first, at)?;
        if first == name && self.variables[first][variable].at == at {
            variable = self.variables[first][variable].outer?;
        }
        self.mark_path(path, first, variable)
    }

    fn find_innermost(&self, name: &str, at: usize) -> Option<usize> {
        let variables = self.variables.get(name)?;
        let last = variables.partition_point(|variable| variable.scope.start <= at).checked_sub(1);
        std::iter::successors(last, |last| variables[*last].outer)
            .find(|variable| variables[*variable].scope.contains(&at))
    }

    fn mark_path(&self, path: &str, first: &str, variable: usize) -> Option<String> {
        let is_marked = self.variables.get(first)?.get(variable)?.is_marked;
        is_marked.then(|| format!("{first}{LOCAL_MARK}{variable}{}", &path[first.len()..]))
    }
}

/// Removes what a function binds although it says at the bytes `unbound` that the name is of a scope further out.
fn remove_unbound(found: &mut Vec<FoundBinding<'_>>, unbound: &[usize]) {
    for at in unbound {
        let around = found.iter().filter(|binding| !binding.is_inner && binding.scope.contains(at));
        if let Some(scope) = around.map(|binding| binding.scope.clone()).max_by_key(|scope| scope.start) {
            found.retain(|binding| binding.scope != scope);
        }
    }
}

/// Marks the variables that could be confused with another of their name: one around them or inside of them, one of the same definition,
/// or one outside of all functions.
fn mark_hiding(variables: &mut [Variable], hides_outer: bool, around: &DefinitionIndex<'_, '_>) {
    if hides_outer {
        variables.iter_mut().for_each(|variable| variable.is_marked = true);
        return;
    }
    let mut first_of: HashMap<Option<usize>, usize> = HashMap::new();
    for at in 0..variables.len() {
        let function = around.innermost_definition(variables[at].scope.start);
        let beside = *first_of.entry(function).or_insert(at);
        for other in [Some(beside), variables[at].outer].into_iter().flatten() {
            let is_other = variables[other].at != variables[at].at
                || variables[other].has_others
                || variables[at].has_others && other != at;
            if is_other && other != at {
                variables[at].is_marked = true;
                variables[other].is_marked = true;
            }
        }
    }
}

/// Returns the first name of a path: `a` of `a().b`.
pub(super) fn first_name(path: &str) -> &str {
    path.split(['.', '(', '?', '[', '{']).next().unwrap_or_default()
}
