//! Follows uses from definition to definition: to what uses them, or to what they call.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Instant;

use memod_base::types::{Declared, DeclaredRole, Structure, Use, UseRole};
use memod_database::DatabaseError;
use memod_structure::resolve::{Candidate, Certainty, FileNumber, Structures as _};

use super::joined::{Found, Joined, Node};
use super::method_sets;
use crate::daemon::request::path_spec::own_name;

/// Factor from the weight of a definition to that of its user, by certainty. By name it is divided by the number of definitions
/// that the name may mean. Checked with `benches/references/history.py` against commits that changed tests.
const WEIGHT: [f64; 3] = [1.0, 0.7, 0.3];
/// How much of it is left one step farther.
const DECAY: f64 = 0.7;
/// What weighs less is found but not followed.
const LEAST_FOLLOWED: f64 = 0.05;
/// Most definitions that are found.
const MOST_FOUND: usize = 5_000;
/// Most definitions that a call may mean: with more, it says nothing.
const MOST_MEANT: usize = 4;

/// Which uses are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// Calls of functions and mentions of types; neither imports nor what a type extends.
    Calls,
    /// All uses but imports.
    Uses,
    /// Types that extend or implement a type.
    Bases,
}

/// How far uses are followed.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) depth: u32,
    pub(super) until: Instant,
}

/// A definition on the way.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) node: Node,
    /// Number of uses between it and a start.
    pub(super) depth: u32,
    /// The step before; `None` for the first ones.
    pub(super) via: Option<usize>,
    /// Line of the use: in this definition, or, for callees, in the one before.
    pub(super) line: u32,
    /// The least sure use on the way.
    pub(super) certainty: Certainty,
    /// 0 to 1; 0 for a test that only its name or its words point to.
    pub(super) weight: f64,
}

/// What was reached.
#[derive(Default)]
pub(super) struct Reached {
    pub(super) steps: Vec<Step>,
    /// Why there may be more.
    pub(super) cut: Option<&'static str>,
    /// Calls in the definitions asked for that mean no definition of the worktree, or any of too many.
    pub(super) n_untold: usize,
    known: HashMap<Node, usize>,
}

impl Reached {
    /// Adds a step, or improves the one that is known at the same depth; returns whether it is new.
    fn add(&mut self, step: Step) -> bool {
        match self.known.get(&step.node) {
            Some(&known) => {
                let known = &mut self.steps[known];
                if known.depth == step.depth && known.weight < step.weight {
                    *known = step;
                }
                false
            }
            None => {
                self.known.insert(step.node, self.steps.len());
                self.steps.push(step);
                true
            }
        }
    }

    /// Adds those starts that are asked for themselves.
    pub(super) fn add_starts(
        &mut self,
        joined: &Joined<'_>,
        start: &[Candidate],
        is_wanted: impl Fn(Node) -> bool,
    ) {
        for own in start.iter().filter(|own| is_wanted(Node::from(**own))) {
            let line = joined.of(own.file).declared[own.declared as usize].lines.0;
            let (node, certainty) = (Node::from(*own), Certainty::Exact);
            self.add(Step { node, depth: 0, via: None, line, certainty, weight: 1.0 });
        }
    }

    fn weight(&self, step: Option<usize>) -> (f64, Certainty) {
        step.map_or((1.0, Certainty::Exact), |step| (self.steps[step].weight, self.steps[step].certainty))
    }

    /// Says why no more is followed, if so.
    fn is_at_end(&mut self, bounds: &Bounds) -> bool {
        if self.steps.len() >= MOST_FOUND {
            self.cut = Some("more than 5,000 definitions are reached");
        } else if Instant::now() >= bounds.until {
            self.cut = Some("the time limit was reached");
        }
        self.cut.is_some()
    }
}

/// Returns what uses the definitions, and what uses that, the nearest first.
pub(super) fn users(
    joined: &Joined<'_>,
    start: &[Candidate],
    edges: Edges,
    bounds: &Bounds,
) -> Result<Reached, DatabaseError> {
    let mut reached = Reached::default();
    let is_start: HashSet<Node> = start.iter().map(|start| Node::from(*start)).collect();
    let mut open: Vec<(Candidate, Option<usize>)> = start.iter().map(|start| (*start, None)).collect();
    if edges == Edges::Uses {
        let of_types = start.iter().flat_map(|start| next(joined, Node::from(*start), None));
        open.extend(of_types.filter(|(candidate, _)| !is_start.contains(&Node::from(*candidate))));
    }
    for depth in 1..=bounds.depth {
        let first_new = reached.steps.len();
        let through_base = match edges {
            Edges::Bases => {
                add_implementers(joined, &open, depth, &mut reached)?;
                HashSet::new()
            }
            Edges::Calls | Edges::Uses => add_overridden(joined, &mut open)?,
        };
        for (name, wanted) in by_name(joined, &open) {
            if reached.is_at_end(bounds) {
                break;
            }
            let candidates: Vec<Candidate> = wanted.keys().copied().collect();
            for found in joined.uses_of(&name, &candidates)? {
                let Some((via, target)) = followed(&reached, &found, &wanted) else { continue };
                let node = holder(joined, found.within);
                if is_start.contains(&node) || !is_edge(joined, edges, &found, target) {
                    continue;
                }
                let (weight, certainty) = reached.weight(via);
                let is_dispatched = through_base.contains(&target);
                let of = if is_dispatched { found.certainty.max(Certainty::Likely) } else { found.certainty };
                let weight = weight * weight_of(of, found.n_meant) * DECAY;
                let certainty = certainty.max(of);
                reached.add(Step { node, depth, via, line: found.line, certainty, weight });
            }
        }
        if reached.cut.is_some() {
            break;
        }
        let mut new: Vec<usize> = (first_new..reached.steps.len()).collect();
        new.retain(|step| reached.steps[*step].weight >= LEAST_FOLLOWED);
        new.sort_by(|one, other| reached.steps[*other].weight.total_cmp(&reached.steps[*one].weight));
        open = new.iter().flat_map(|step| next(joined, reached.steps[*step].node, Some(*step))).collect();
    }
    Ok(reached)
}

/// Adds what names definitions that are gone: the uses of a name that nothing else defines, or that is still imported from there.
pub(super) fn add_users_of_removed(
    joined: &Joined<'_>,
    removed: &[(String, Vec<String>)],
    reached: &mut Reached,
) -> Result<(), DatabaseError> {
    let names: BTreeSet<(&str, &str)> = removed
        .iter()
        .flat_map(|(path, titles)| titles.iter().map(|title| (own_name(title), path.as_str())))
        .collect();
    for (name, path) in names {
        // Where another definition has the name, only an import from the old file tells that the old one is meant.
        let is_defined = !joined.candidates(name)?.is_empty();
        let old_file = joined.paths.number(path);
        if joined.is_late() || is_defined && old_file.is_none() {
            continue;
        }
        let is_meant = |file: FileNumber, structure: &Structure, of: &Use| {
            !is_defined || old_file.is_some_and(|old| joined.is_imported_from(old, file, structure, of))
        };
        let certainty = if is_defined { Certainty::Likely } else { Certainty::ByName };
        for file in joined.files_with(name)? {
            let structure = joined.of(file);
            for of in structure.uses.iter().filter(|of| structure.name(of.name) == name) {
                if !is_meant(file, &structure, of) {
                    continue;
                }
                let node = holder(joined, Node { file, declared: of.within.checked_sub(1) });
                let weight = weight_of(certainty, 1) * DECAY;
                reached.add(Step { node, depth: 1, via: None, line: of.line, certainty, weight });
            }
        }
    }
    Ok(())
}

/// Adds the members of bases for which members of types may be called, and returns them.
fn add_overridden(
    joined: &Joined<'_>,
    open: &mut Vec<(Candidate, Option<usize>)>,
) -> Result<HashSet<Candidate>, DatabaseError> {
    let mut known: HashSet<Candidate> = open.iter().map(|(candidate, _)| *candidate).collect();
    let mut added = HashSet::new();
    for (candidate, step) in open.clone() {
        if joined.is_late() {
            break;
        }
        for base in joined.overridden(candidate)? {
            if known.insert(base) {
                added.insert(base);
                open.push((base, step));
            }
        }
    }
    Ok(added)
}

/// Adds the types of Go that have the methods of an interface.
fn add_implementers(
    joined: &Joined<'_>,
    open: &[(Candidate, Option<usize>)],
    depth: u32,
    reached: &mut Reached,
) -> Result<(), DatabaseError> {
    for (interface, via) in open {
        if joined.is_late() {
            break;
        }
        let (sure, types) = method_sets::implementers(joined, *interface)?;
        for found in types {
            let line = joined.of(found.file).declared[found.declared as usize].lines.0;
            let (weight, certainty) = reached.weight(*via);
            let (weight, certainty) = (weight * weight_of(sure, 1) * DECAY, certainty.max(sure));
            reached.add(Step { node: Node::from(found), depth, via: *via, line, certainty, weight });
        }
    }
    Ok(())
}

/// Definitions of one name with the steps that led to them.
type Wanted = HashMap<Candidate, Option<usize>>;

/// Groups definitions by their names, in the order in which each name is first seen.
fn by_name(joined: &Joined<'_>, open: &[(Candidate, Option<usize>)]) -> Vec<(String, Wanted)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<(String, Wanted)> = Vec::new();
    for (candidate, step) in open {
        let structure = joined.of(candidate.file);
        for name in structure.declared[candidate.declared as usize].names.split(' ') {
            let place = *places.entry(name.to_owned()).or_insert(groups.len());
            if place == groups.len() {
                groups.push((name.to_owned(), Wanted::new()));
            }
            groups[place].1.entry(*candidate).or_insert(*step);
        }
    }
    groups
}

/// Returns the heaviest step that a use leads to, with its definition.
fn followed(reached: &Reached, found: &Found, wanted: &Wanted) -> Option<(Option<usize>, Candidate)> {
    let steps = found.meant.iter().filter_map(|meant| Some((*wanted.get(meant)?, *meant)));
    steps.max_by(|one, other| reached.weight(one.0).0.total_cmp(&reached.weight(other.0).0))
}

fn is_edge(joined: &Joined<'_>, edges: Edges, found: &Found, target: Candidate) -> bool {
    let is_type = || {
        joined.of(target.file).declared[target.declared as usize].role == DeclaredRole::Type
            && found.role == UseRole::Mention
    };
    !found.is_import
        && match edges {
            Edges::Calls => found.role == UseRole::Call || is_type(),
            Edges::Uses => true,
            Edges::Bases => found.role == UseRole::Base,
        }
}

/// Returns the definition that a place belongs to: a scope such as an `impl` block belongs to its type.
fn holder(joined: &Joined<'_>, place: Node) -> Node {
    let structure = joined.of(place.file);
    let Some(own) = place.declared.and_then(|id| structure.declared.get(id as usize)) else { return place };
    if own.role != DeclaredRole::Scope {
        return place;
    }
    let is_type = |other: &Declared| other.role == DeclaredRole::Type && other.title == own.title;
    let of_type = structure.declared.iter().position(is_type);
    Node { declared: of_type.map(|id| id as u32).or(place.declared), ..place }
}

/// Returns the definitions whose uses reach a node: itself, and of a constructor its type.
fn next(joined: &Joined<'_>, node: Node, step: Option<usize>) -> Vec<(Candidate, Option<usize>)> {
    let Some(declared) = node.declared else { return Vec::new() };
    let structure = joined.of(node.file);
    let own = &structure.declared[declared as usize];
    if matches!(own.role, DeclaredRole::Scope | DeclaredRole::Module) {
        return Vec::new();
    }
    let is_constructor = matches!(own.names.as_str(), "__init__" | "__new__" | "constructor");
    let of_type = own.parent.filter(|_| is_constructor);
    let candidate = |declared| (Candidate { file: node.file, declared }, step);
    [Some(declared), of_type].into_iter().flatten().map(candidate).collect()
}

/// Returns what the definitions call, and what that calls, the nearest first and in the order of the text.
pub(super) fn callees(
    joined: &Joined<'_>,
    start: &[Candidate],
    bounds: &Bounds,
) -> Result<Reached, DatabaseError> {
    let mut reached = Reached::default();
    let is_start: HashSet<Node> = start.iter().map(|start| Node::from(*start)).collect();
    let mut open: Vec<(Candidate, Option<usize>)> = start.iter().map(|start| (*start, None)).collect();
    for depth in 1..=bounds.depth {
        let mut new = Vec::new();
        for (caller, via) in open {
            if reached.is_at_end(bounds) {
                return Ok(reached);
            }
            let structure = joined.of(caller.file);
            for of in structure.uses.iter().filter(|of| is_call_in(&structure, of.within, of.role, caller)) {
                let (found_certainty, meant) = joined.meant_by(caller.file, &structure, of)?;
                let n_meant = meant.len();
                if n_meant == 0 || n_meant > MOST_MEANT && found_certainty != Certainty::Exact {
                    reached.n_untold += usize::from(via.is_none());
                    continue;
                }
                let (weight, certainty) = reached.weight(via);
                let weight = weight * weight_of(found_certainty, n_meant) * DECAY;
                let certainty = certainty.max(found_certainty);
                for callee in meant.into_iter().filter(|callee| !is_start.contains(&Node::from(*callee))) {
                    let place = reached.steps.len();
                    let node = Node::from(callee);
                    let is_new = reached.add(Step { node, depth, via, line: of.line, certainty, weight });
                    if is_new && weight >= LEAST_FOLLOWED {
                        new.push((callee, Some(place)));
                    }
                }
            }
        }
        open = new;
    }
    Ok(reached)
}

/// Whether a use is a call inside of a definition, its inner definitions included.
fn is_call_in(structure: &Structure, within: u32, role: UseRole, caller: Candidate) -> bool {
    role == UseRole::Call && structure.around(within.checked_sub(1)).any(|around| around == caller.declared)
}

/// Orders by the number of uses, then the surest first.
pub(super) fn nearest(one: &Step, other: &Step) -> Ordering {
    one.depth.cmp(&other.depth).then(one.certainty.cmp(&other.certainty)).then(one.node.cmp(&other.node))
}

fn weight_of(certainty: Certainty, n_meant: usize) -> f64 {
    match certainty {
        Certainty::Exact => WEIGHT[0],
        Certainty::Likely => WEIGHT[1],
        Certainty::ByName => WEIGHT[2] / n_meant.max(1) as f64,
        Certainty::Similar => 0.0,
    }
}
