//! Finds which types of Go implement an interface: those that have a method of each name that the interface requires.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use memod_base::types::{DeclaredRole, UseRole, is_compound, parent_dir};
use memod_database::DatabaseError;
use memod_structure::resolve::{Certainty, DefinitionCandidate, StructureStore as _};

use super::implementers::{Implementers, PackageType};
use super::worktree_structures::WorktreeStructures;

/// Maximum depth of embedded interfaces that are followed.
const MOST_EMBEDDED: u32 = 8;
/// Maximum number of interfaces that a method is compared with.
const MOST_INTERFACES: usize = 8;

/// The methods of an interface.
#[derive(Default)]
struct MethodSet {
    names: BTreeSet<String>,
    /// Whether the interface embeds one that is not defined in the worktree.
    is_incomplete: bool,
}

/// Returns the types that implement an interface. They are found once for each interface, because each of a thousand methods of one
/// name may implement it.
pub(super) fn find_implementers(
    structures: &WorktreeStructures<'_>,
    interface: DefinitionCandidate,
) -> Result<Rc<Implementers>, DatabaseError> {
    if let Some(known) = structures.implementers.borrow().get(&interface) {
        return Ok(Rc::clone(known));
    }
    let found = Rc::new(list_implementers(structures, interface)?);
    structures.implementers.borrow_mut().insert(interface, Rc::clone(&found));
    Ok(found)
}

fn list_implementers(
    structures: &WorktreeStructures<'_>,
    interface: DefinitionCandidate,
) -> Result<Implementers, DatabaseError> {
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
    let (mut types, mut found_places) = (Vec::new(), HashSet::new());
    for (dir, name) in places.unwrap_or_default() {
        if structures.is_past_deadline() {
            break;
        }
        for candidate in structures.find_candidates(&name)?.iter() {
            let structure = structures.structure_of(candidate.file);
            let declared = candidate.declared_in(&structure);
            if declared.role == DeclaredRole::Type && package_dir(structures, *candidate) == dir {
                types.push(*candidate);
                found_places.insert((dir.clone(), declared.title.clone()));
            }
        }
    }
    Ok(Implementers { certainty, types, places: found_places })
}

/// Returns whether a member may implement a method of an interface of Go.
pub(super) fn may_implement(structures: &WorktreeStructures<'_>, method: DefinitionCandidate) -> bool {
    is_go(structures, method) && method.declared_in(&structures.structure_of(method.file)).parent.is_none()
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
    let own = place_of_owner(structures, method);
    let mut found = Vec::new();
    let of_interfaces = candidates.iter().filter(|candidate| is_go(structures, **candidate));
    let of_interfaces = of_interfaces.filter_map(|candidate| {
        let structure = structures.structure_of(candidate.file);
        Some((candidate, candidate.declared_in(&structure).parent?))
    });
    for (candidate, interface) in of_interfaces.take(MOST_INTERFACES) {
        let interface = DefinitionCandidate { file: candidate.file, declared: interface };
        let is_implemented = find_implementers(structures, interface)?.places.contains(&own);
        found.extend(is_implemented.then_some(*candidate));
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
        let structure = structures.structure_of(candidate.file);
        let declared = candidate.declared_in(&structure);
        is_go(structures, **candidate) && declared.role == DeclaredRole::Member && declared.parent.is_none()
    });
    Ok(methods.map(|method| place_of_owner(structures, *method)).collect())
}

/// Returns the package and the name of the type of a method.
fn place_of_owner(structures: &WorktreeStructures<'_>, method: DefinitionCandidate) -> PackageType {
    let structure = structures.structure_of(method.file);
    (package_dir(structures, method).to_owned(), method.declared_in(&structure).owner_title().to_owned())
}

fn package_dir<'s>(structures: &'s WorktreeStructures<'_>, candidate: DefinitionCandidate) -> &'s str {
    parent_dir(structures.paths.path_of(candidate.file))
}

fn is_go(structures: &WorktreeStructures<'_>, candidate: DefinitionCandidate) -> bool {
    structures.paths.path_of(candidate.file).ends_with(".go")
}
