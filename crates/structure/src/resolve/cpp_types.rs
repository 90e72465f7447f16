//! Finds which type of C++ a path means among those of its name in several namespaces.

use super::split_path::join_path;
use super::type_keys::TypesByKey;
use super::use_place::UsePlace;
use super::{DefinitionCandidate, Resolver};

/// Begins the module of an import of C++ that names a namespace.
const USED_NAMESPACE: &str = "using ";

impl Resolver<'_> {
    /// Returns the types that a path means, or the only type of its name, whose namespace a macro may open.
    pub(super) fn meant_in_cpp(
        &self,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        self.meant_in_namespaces(place, parts, keys).or_else(|| {
            let (written, is_of_library) = (parts.join("/"), parts.len() > 1 && parts[0] == "std");
            let mut fitting = keys.iter().filter(|(key, _)| !is_of_library && is_end_of_path(key, &written));
            let (_, found) = fitting.next()?;
            fitting.next().is_none().then(|| found.clone())
        })
    }

    /// Returns what a path means in the namespaces and types around, and in those that `using` brings in.
    pub(super) fn meant_in_namespaces(
        &self,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let written = parts.join("/");
        let rest = parts[1..].join("/");
        let mut used: Vec<(u32, String, bool)> = Vec::new();
        for import in place.structure.imports.iter().filter(|import| import.holds_on(place.line)) {
            let Some(namespace) = import.module.strip_prefix(USED_NAMESPACE) else { continue };
            let namespace = namespace.replace("::", "/");
            let width = import.scope_lines.map_or(u32::MAX, |(first, last)| last - first);
            match import.local.as_str() {
                "" => used.push((width, join_path(&namespace, &written), true)),
                local if local == parts[0] => used.push((width, join_path(&namespace, &rest), false)),
                _ => {}
            }
        }
        used.sort_by_key(|(width, ..)| *width);
        // The `using` statements of a function hide those around it.
        let (inner, outer): (Vec<_>, Vec<_>) = used.iter().partition(|(width, ..)| *width < u32::MAX);
        let of = |used: &[&(u32, String, bool)], is_opened: bool| -> Vec<String> {
            used.iter().filter(|(.., opened)| *opened == is_opened).map(|(_, key, _)| key.clone()).collect()
        };
        let own = self.titles_around(place).map(|title| join_path(&title, &written));
        let candidates = of(&inner, false).into_iter().chain(of(&inner, true)).chain(own);
        let candidates: Vec<String> = candidates.chain([written.clone()]).chain(of(&outer, false)).collect();
        if let Some(found) = candidates.iter().find_map(|key| keys.get(key)) {
            return Some(found.clone());
        }
        let opened = of(&outer, true).into_iter();
        let mut opened: Vec<&Vec<DefinitionCandidate>> = opened.filter_map(|key| keys.get(&key)).collect();
        opened.dedup();
        if let [only] = opened[..] { Some(only.clone()) } else { None }
    }
}

/// Returns whether one of two paths is the other without its first parts.
fn is_end_of_path(one: &str, other: &str) -> bool {
    let ends = |end: &str, path: &str| {
        path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends(one, other) || ends(other, one)
}
