//! Finds which types of Go implement an interface: those that have a method of each name that the interface requires.

use std::collections::BTreeSet;

use memod_base::types::{DeclaredItem, DeclaredRole, UseRole, is_compound, parent_dir};
use memod_database::DatabaseError;
use memod_structure::resolve::{Certainty, DefinitionCandidate, StructureStore as _};

use super::worktree_structures::WorktreeStructures;

/// Maximum depth of embedded interfaces that are followed.
const MOST_EMBEDDED: u32 = 8;
/// Maximum number of interfaces that a method is compared with.
const MOST_INTERFACES: usize = 8;

/// The directory of a type's package, and the name of the type.
type PackageType = (String, String);

/// The methods of an interface.
#[derive(Default)]
struct MethodSet {
    names: BTreeSet<String>,
    /// Whether the interface embeds one that is not defined in the worktree.
    is_incomplete: bool,
}

/// Returns the types that have all methods of an interface, and the certainty of that: parameters are not compared.
pub(super) fn find_implementers(
    structures: &WorktreeStructures<'_>,
    interface: DefinitionCandidate,
) -> Result<(Certainty, Vec<DefinitionCandidate>), DatabaseError> {
    let mut wanted = MethodSet::default();
    collect_methods(structures, interface, MOST_EMBEDDED, &mut wanted)?;
    let is_telling = wanted.names.len() > 1 || wanted.names.iter().all(|name| is_compound(name));
    let certainty = if is_telling && !wanted.is_incomplete { Certainty::Likely } else { Certainty::ByName };
    let mut places: Option<BTreeSet<PackageType>> = None;
    for name in &wanted.names {
        let having = find_types_with_method(structures, name)?;
        let both = places.map(|places| places.intersection(&having).cloned().collect());
        places = Some(both.unwrap_or(having));
    }
    let mut found = Vec::new();
    for (dir, name) in places.unwrap_or_default() {
        found.extend(
            structures
                .find_candidates(&name)?
                .iter()
                .filter(|candidate| {
                    package_dir(structures, **candidate) == dir
                        && find_declared(structures, **candidate).role == DeclaredRole::Type
                })
                .copied(),
        );
    }
    Ok((certainty, found))
}

/// Returns whether a member may implement a method of an interface of Go.
pub(super) fn may_implement(structures: &WorktreeStructures<'_>, method: DefinitionCandidate) -> bool {
    is_go(structures, method) && find_declared(structures, method).parent.is_none()
}

/// Returns the methods of interfaces among `candidates` that a method of a type implements; all have the same name.
pub(super) fn find_implemented_methods(
    structures: &WorktreeStructures<'_>,
    method: DefinitionCandidate,
    candidates: &[DefinitionCandidate],
) -> Result<Vec<DefinitionCandidate>, DatabaseError> {
    if !may_implement(structures, method) {
        return Ok(Vec::new());
    }
    let own = (package_dir(structures, method), find_declared(structures, method).owner_title().to_owned());
    let mut found = Vec::new();
    let of_interfaces = candidates.iter().filter(|candidate| is_go(structures, **candidate));
    let of_interfaces = of_interfaces
        .filter_map(|candidate| Some((candidate, find_declared(structures, *candidate).parent?)));
    for (candidate, interface) in of_interfaces.take(MOST_INTERFACES) {
        let interface = DefinitionCandidate { file: candidate.file, declared: interface };
        let (_, types) = find_implementers(structures, interface)?;
        found.extend(
            types
                .iter()
                .any(|found| {
                    package_dir(structures, *found) == own.0
                        && find_declared(structures, *found).title == own.1
                })
                .then_some(*candidate),
        );
    }
    Ok(found)
}

/// Adds the methods of an interface, and of the interfaces that it embeds up to a depth, to `wanted`.
fn collect_methods(
    structures: &WorktreeStructures<'_>,
    interface: DefinitionCandidate,
    depth: u32,
    wanted: &mut MethodSet,
) -> Result<(), DatabaseError> {
    if !is_go(structures, interface) || depth == 0 {
        return Ok(());
    }
    let structure = structures.structure_of(interface.file);
    let methods = structure
        .declared
        .iter()
        .filter(|found| found.parent == Some(interface.declared) && found.role == DeclaredRole::Member);
    let n_before = wanted.names.len();
    wanted.names.extend(methods.map(|method| method.names.clone()));
    if depth == MOST_EMBEDDED && wanted.names.len() == n_before {
        // A type without methods inside is a struct, whose embedded types do not matter, or an interface that only embeds.
        return Ok(());
    }
    let embedded = structure
        .uses
        .iter()
        .filter(|used| used.role == UseRole::Base && used.enclosing_id() == Some(interface.declared));
    for used in embedded {
        let (_, meant) = structures.resolve_use(interface.file, &structure, used)?;
        wanted.is_incomplete |= meant.is_empty();
        for meant in meant {
            collect_methods(structures, meant, depth - 1, wanted)?;
        }
    }
    Ok(())
}

/// Returns the types of Go that have a method with a name.
fn find_types_with_method(
    structures: &WorktreeStructures<'_>,
    name: &str,
) -> Result<BTreeSet<PackageType>, DatabaseError> {
    let candidates = structures.find_candidates(name)?;
    let methods = candidates.iter().filter(|candidate| {
        let declared = find_declared(structures, **candidate);
        is_go(structures, **candidate) && declared.role == DeclaredRole::Member && declared.parent.is_none()
    });
    Ok(methods
        .map(|method| {
            (package_dir(structures, *method), find_declared(structures, *method).owner_title().to_owned())
        })
        .collect())
}

fn find_declared(structures: &WorktreeStructures<'_>, candidate: DefinitionCandidate) -> DeclaredItem {
    candidate.declared_in(&structures.structure_of(candidate.file)).clone()
}

fn package_dir(structures: &WorktreeStructures<'_>, candidate: DefinitionCandidate) -> String {
    parent_dir(structures.paths.path_of(candidate.file)).to_owned()
}

fn is_go(structures: &WorktreeStructures<'_>, candidate: DefinitionCandidate) -> bool {
    structures.paths.path_of(candidate.file).ends_with(".go")
}
