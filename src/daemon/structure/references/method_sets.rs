//! Finds which types of Go implement an interface: those that have a method of each name that it asks for.

use std::collections::BTreeSet;

use memod_base::types::{Declared, DeclaredRole, UseRole, is_compound};
use memod_database::DatabaseError;
use memod_structure::resolve::{Candidate, Certainty, Structures as _};

use super::joined::Joined;

/// Deepest nesting of embedded interfaces.
const MOST_EMBEDDED: u32 = 8;
/// Most interfaces that a method is compared with.
const MOST_INTERFACES: usize = 8;

/// A type, by the directory of its package and its name.
type TypePlace = (String, String);

/// What an interface asks for.
#[derive(Default)]
struct MethodSet {
    names: BTreeSet<String>,
    /// Whether it embeds one that is defined elsewhere.
    is_open: bool,
}

/// Returns the types that have all methods of an interface, and how sure that is: parameters are not compared.
pub(super) fn implementers(
    joined: &Joined<'_>,
    interface: Candidate,
) -> Result<(Certainty, Vec<Candidate>), DatabaseError> {
    let mut wanted = MethodSet::default();
    collect(joined, interface, MOST_EMBEDDED, &mut wanted)?;
    let is_telling = wanted.names.len() > 1 || wanted.names.iter().all(|name| is_compound(name));
    let certainty = if is_telling && !wanted.is_open { Certainty::Likely } else { Certainty::ByName };
    let mut places: Option<BTreeSet<TypePlace>> = None;
    for name in &wanted.names {
        let having = types_with(joined, name)?;
        let both = places.map(|places| places.intersection(&having).cloned().collect());
        places = Some(both.unwrap_or(having));
    }
    let mut found = Vec::new();
    for (dir, name) in places.unwrap_or_default() {
        let is_it = |candidate: &&Candidate| {
            dir_of(joined, **candidate) == dir && of(joined, **candidate).role == DeclaredRole::Type
        };
        found.extend(joined.candidates(&name)?.iter().filter(is_it).copied());
    }
    Ok((certainty, found))
}

/// Returns those methods of interfaces, all of one name, that a method of a type implements.
pub(super) fn implemented(
    joined: &Joined<'_>,
    method: Candidate,
    candidates: &[Candidate],
) -> Result<Vec<Candidate>, DatabaseError> {
    if !is_go(joined, method) || of(joined, method).parent.is_some() {
        return Ok(Vec::new());
    }
    let own = (dir_of(joined, method), of(joined, method).owner().to_owned());
    let mut found = Vec::new();
    let of_interfaces = candidates.iter().filter(|candidate| is_go(joined, **candidate));
    let of_interfaces =
        of_interfaces.filter_map(|candidate| Some((candidate, of(joined, *candidate).parent?)));
    for (candidate, interface) in of_interfaces.take(MOST_INTERFACES) {
        let interface = Candidate { file: candidate.file, declared: interface };
        let (_, types) = implementers(joined, interface)?;
        let is_own = |found: &Candidate| dir_of(joined, *found) == own.0 && of(joined, *found).title == own.1;
        found.extend(types.iter().any(is_own).then_some(*candidate));
    }
    Ok(found)
}

/// Adds the methods of an interface and of those that it embeds.
fn collect(
    joined: &Joined<'_>,
    interface: Candidate,
    depth: u32,
    wanted: &mut MethodSet,
) -> Result<(), DatabaseError> {
    if !is_go(joined, interface) || depth == 0 {
        return Ok(());
    }
    let structure = joined.of(interface.file);
    let methods = structure
        .declared
        .iter()
        .filter(|found| found.parent == Some(interface.declared) && found.role == DeclaredRole::Member);
    let n_before = wanted.names.len();
    wanted.names.extend(methods.map(|method| method.names.clone()));
    if depth == MOST_EMBEDDED && wanted.names.len() == n_before {
        // A type without methods inside is no interface, or one that only embeds; of a struct, embedded ones say nothing.
        return Ok(());
    }
    let embedded =
        structure.uses.iter().filter(|of| of.role == UseRole::Base && of.within == interface.declared + 1);
    for used in embedded {
        let (_, meant) = joined.meant_by(interface.file, &structure, used)?;
        wanted.is_open |= meant.is_empty();
        for meant in meant {
            collect(joined, meant, depth - 1, wanted)?;
        }
    }
    Ok(())
}

/// Returns the types that have a method of a name.
fn types_with(joined: &Joined<'_>, name: &str) -> Result<BTreeSet<TypePlace>, DatabaseError> {
    let candidates = joined.candidates(name)?;
    let methods = candidates.iter().filter(|candidate| {
        let declared = of(joined, **candidate);
        is_go(joined, **candidate) && declared.role == DeclaredRole::Member && declared.parent.is_none()
    });
    let place = |method: &Candidate| (dir_of(joined, *method), of(joined, *method).owner().to_owned());
    Ok(methods.map(place).collect())
}

fn of(joined: &Joined<'_>, candidate: Candidate) -> Declared {
    joined.of(candidate.file).declared[candidate.declared as usize].clone()
}

fn dir_of(joined: &Joined<'_>, candidate: Candidate) -> String {
    let path = joined.paths.path(candidate.file);
    path.rsplit_once('/').map_or("", |(dir, _)| dir).to_owned()
}

fn is_go(joined: &Joined<'_>, candidate: Candidate) -> bool {
    joined.paths.path(candidate.file).ends_with(".go")
}
