//! Finds the members of base types that members override, because a call of one of them may run the other.

use std::collections::{BTreeSet, HashSet};

use memod_base::types::{DeclaredRole, NameUse, UseRole, last_part};
use memod_database::DatabaseError;
use memod_structure::resolve::{DefinitionCandidate, FileNumber, Resolver, StructureStore as _};

use super::method_sets;
use super::worktree_structures::WorktreeStructures;

/// Maximum number of base types whose files are looked at for one member.
const MOST_BASES: usize = 64;

/// Adds to `open` the members of base types that the members there override or implement; returns the added ones.
pub(super) fn add_overridden(
    structures: &WorktreeStructures<'_>,
    open: &mut Vec<(DefinitionCandidate, Option<usize>)>,
) -> Result<HashSet<DefinitionCandidate>, DatabaseError> {
    let mut known: HashSet<DefinitionCandidate> = open.iter().map(|(candidate, _)| *candidate).collect();
    let mut added = HashSet::new();
    for (candidate, step) in open.clone() {
        if structures.is_past_deadline() {
            break;
        }
        for base in find_overridden_members(structures, candidate)? {
            if known.insert(base) {
                added.insert(base);
                open.push((base, step));
            }
        }
    }
    Ok(added)
}

/// Returns the members of base types that a member overrides or implements: a call of one of them may run this member.
fn find_overridden_members(
    structures: &WorktreeStructures<'_>,
    member: DefinitionCandidate,
) -> Result<Vec<DefinitionCandidate>, DatabaseError> {
    let structure = structures.structure_of(member.file);
    let declared = member.declared_in(&structure);
    if declared.role != DeclaredRole::Member {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let files = list_base_files(structures, member)?;
    for name in declared.own_names() {
        let of_bases: Vec<DefinitionCandidate> =
            files.iter().flat_map(|file| structures.list_declared(*file, name)).collect();
        if !of_bases.is_empty() {
            let resolver = Resolver::new(&structures.paths, structures, name, &of_bases);
            found.extend(resolver.overridden_members(member));
        }
        if !method_sets::may_implement(structures, member) {
            continue;
        }
        let candidates = structures.find_candidates(name)?;
        found.extend(method_sets::find_implemented_methods(structures, member, &candidates)?);
    }
    Ok(found)
}

/// Returns the files with a type that has the name of a base type of the member's type. Far more files have a member with a common name
/// such as `close`.
fn list_base_files(
    structures: &WorktreeStructures<'_>,
    member: DefinitionCandidate,
) -> Result<BTreeSet<FileNumber>, DatabaseError> {
    let structure = structures.structure_of(member.file);
    let own = last_part(member.declared_in(&structure).owner_title()).to_owned();
    let mut files = BTreeSet::new();
    let mut known = HashSet::from([own.clone()]);
    let mut open = vec![(own, BTreeSet::from([member.file]))];
    while let Some((name, mut defining)) = open.pop() {
        let candidates = structures.find_candidates(&name)?;
        defining.extend(candidates.iter().map(|candidate| candidate.file));
        for file in defining {
            let structure = structures.structure_of(file);
            let is_of_type = |used: &&NameUse| {
                let around = structure.find_item(used.enclosing_id());
                used.role == UseRole::Base && around.is_some_and(|around| last_part(&around.title) == name)
            };
            for used in structure.uses.iter().filter(is_of_type) {
                let written = structure.name(used.name);
                let renamed = structure.imports.iter().filter(|import| import.local == written);
                let renamed = renamed.map(|import| import.name.as_str()).filter(|name| !name.is_empty());
                for base in renamed.chain([written]) {
                    if known.len() < MOST_BASES && known.insert(base.to_owned()) {
                        let found = structures.find_candidates(base)?;
                        files.extend(found.iter().map(|candidate| candidate.file));
                        open.push((base.to_owned(), BTreeSet::new()));
                    }
                }
            }
        }
    }
    Ok(files)
}
