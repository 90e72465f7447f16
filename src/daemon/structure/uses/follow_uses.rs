//! Follows uses from definition to definition: to the users of definitions, or to the definitions that they call.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memod_base::types::{DeclaredRole, FileStructure, NameUse, UseReceiver, UseRole, is_compound, last_part};
use memod_database::DatabaseError;
use memod_structure::resolve::{Certainty, DefinitionCandidate, FileNumber, StructureStore as _};

use super::find_uses::ResolvedUse;
use super::method_sets;
use super::overridden_members::add_overridden;
use super::worktree_structures::{CodeNode, WorktreeStructures};

/// Factor from the weight of a definition to that of its user, by the certainty of the use. The last one, for uses by name, is
/// divided by the number of definitions that the name may mean. Checked with `benches/references/history.py` on commits that
/// changed tests.
const WEIGHT: [f64; 3] = [1.0, 0.7, 0.3];
/// Factor by which the weight decreases with each step.
const DECAY: f64 = 0.7;
/// Minimum weight of a step that is followed; lighter steps are only found.
const LEAST_FOLLOWED: f64 = 0.05;
/// Maximum number of definitions that are found.
const MOST_FOUND: usize = 5_000;
/// Maximum number of definitions that a call may mean; a call that may mean more is ignored, unless it is exact.
const MOST_MEANT: usize = 4;

/// Maximum number of files that are looked at and of uses that are resolved for the second and farther steps together: they are many,
/// and each says less. A number and not a time, so that an answer is the same on a busy machine.
const MOST_FARTHER_WORK: usize = 6_000;

/// The kind of uses that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowedUses {
    /// Calls of functions and mentions of types, but neither imports nor the base types that a type extends.
    Calls,
    /// All uses except imports.
    Uses,
    /// Types that extend or implement a type.
    Bases,
}

/// How far uses are followed.
#[derive(Clone, Copy)]
pub(super) struct FollowLimits {
    pub(super) depth: u32,
    /// Steps that are less certain are found, but not followed.
    pub(super) least_certain: Certainty,
}

/// A definition that was reached by following uses.
#[derive(Clone, Debug)]
pub(super) struct UseStep {
    pub(super) node: CodeNode,
    /// Number of uses between a starting definition and this one.
    pub(super) depth: u32,
    /// Index of the step before this one; `None` for the first steps.
    pub(super) via: Option<usize>,
    /// Line of the use: in this definition, or, for callees, in the definition before.
    pub(super) line: u32,
    /// Certainty of the least certain use on the way.
    pub(super) certainty: Certainty,
    /// Relevance, 0 to 1; 0 for a test that was found only by its name or its words.
    pub(super) weight: f64,
}

/// The steps found by following uses.
#[derive(Default)]
pub(super) struct FollowedSteps {
    pub(super) steps: Vec<UseStep>,
    /// Why there may be more steps.
    pub(super) cut: Option<&'static str>,
    /// Number of calls in the starting definitions that mean no definition of the worktree, or one of too many.
    pub(super) n_unresolved_calls: usize,
    /// Definitions that certainly use a starting definition without a call, such as `retry(load)` for `load`, if calls are followed.
    passing: HashSet<CodeNode>,
    /// Number of steps that were followed, if the definitions that the last of them reached are used further.
    pub(super) last_step: Option<u32>,
    /// The removed names that definitions still use, by the number of the step to each definition.
    pub(super) old_names: HashMap<usize, String>,
    known: HashMap<CodeNode, usize>,
    /// Lines of further uses in the definition of a step, as near as that of the step.
    lines: HashMap<usize, Vec<u32>>,
}

impl FollowedSteps {
    /// Adds a step, or replaces a lighter step to the same definition at the same depth; returns whether the definition is new.
    pub(super) fn add_step(&mut self, step: UseStep) -> bool {
        match self.known.get(&step.node) {
            Some(&id) => {
                let known = &mut self.steps[id];
                if known.depth == step.depth {
                    let line = if known.weight < step.weight { known.line } else { step.line };
                    self.lines.entry(id).or_default().push(line);
                    if known.weight < step.weight {
                        *known = step;
                    }
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

    /// Adds the starting definitions that `is_wanted` selects as steps of depth 0.
    pub(super) fn add_starts(
        &mut self,
        structures: &WorktreeStructures<'_>,
        start: &[DefinitionCandidate],
        is_wanted: impl Fn(CodeNode) -> bool,
    ) {
        for own in start.iter().filter(|own| is_wanted(CodeNode::from(**own))) {
            let line = own.declared_in(&structures.structure_of(own.file)).lines.0;
            let (node, certainty) = (CodeNode::from(*own), Certainty::Exact);
            self.add_step(UseStep { node, depth: 0, via: None, line, certainty, weight: 1.0 });
        }
    }

    /// Returns the lines of the uses in the definition of a step, in order.
    pub(super) fn lines_of(&self, step: usize) -> Vec<u32> {
        let more = self.lines.get(&step).into_iter().flatten();
        let mut lines: Vec<u32> = more.copied().chain([self.steps[step].line]).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns the number of definitions that use a starting definition, but only without a call.
    pub(super) fn n_passing(&self) -> usize {
        self.passing.iter().filter(|node| !self.known.contains_key(node)).count()
    }

    fn weight_and_certainty(&self, step: Option<usize>) -> (f64, Certainty) {
        step.map_or((1.0, Certainty::Exact), |step| (self.steps[step].weight, self.steps[step].certainty))
    }

    /// Returns whether a limit is reached; what was cut is recorded here or in `structures`.
    fn is_at_limit(&mut self, structures: &WorktreeStructures<'_>) -> bool {
        if self.steps.len() >= MOST_FOUND {
            self.cut = Some("more than 5,000 definitions are reached");
        }
        self.cut.is_some() || structures.is_past_deadline()
    }
}

/// Returns the steps to the users of definitions, and to their users in turn, the nearest first. `reached` has the users of removed
/// definitions, which are followed as well.
pub(super) fn follow_users(
    structures: &WorktreeStructures<'_>,
    start: &[DefinitionCandidate],
    edges: FollowedUses,
    bounds: &FollowLimits,
    mut reached: FollowedSteps,
) -> Result<FollowedSteps, DatabaseError> {
    let is_start: HashSet<CodeNode> = start.iter().map(|start| CodeNode::from(*start)).collect();
    let mut open: Vec<(DefinitionCandidate, Option<usize>)> =
        start.iter().map(|start| (*start, None)).collect();
    if edges == FollowedUses::Uses {
        let of_types =
            start.iter().flat_map(|start| list_next_candidates(structures, CodeNode::from(*start), None));
        open.extend(of_types.filter(|(candidate, _)| !is_start.contains(&CodeNode::from(*candidate))));
    }
    for depth in 1..=bounds.depth {
        let first_new = if depth == 1 { 0 } else { reached.steps.len() };
        if depth > 1 {
            structures.limit_work(MOST_FARTHER_WORK);
        }
        let through_base = match edges {
            FollowedUses::Bases => {
                add_implementers(structures, &open, depth, &mut reached)?;
                HashSet::new()
            }
            FollowedUses::Calls | FollowedUses::Uses => add_overridden(structures, &mut open)?,
        };
        for (name, wanted) in group_by_name(structures, &open) {
            if reached.is_at_limit(structures) {
                break;
            }
            let candidates: Vec<DefinitionCandidate> = wanted.keys().copied().collect();
            for found in structures.find_uses(&name, &candidates)? {
                let Some((via, target)) = find_heaviest_step(&reached, &found, &wanted) else { continue };
                let node = find_enclosing_definition(structures, found.within);
                if is_start.contains(&node) {
                    continue;
                }
                if !is_followed_use(structures, edges, &found, target) {
                    let is_passed = edges == FollowedUses::Calls && depth == 1 && !found.is_import;
                    if is_passed && found.certainty < Certainty::ByName {
                        reached.passing.insert(node);
                    }
                    continue;
                }
                let (weight, certainty) = reached.weight_and_certainty(via);
                let is_dispatched = through_base.contains(&target);
                let use_certainty =
                    if is_dispatched { found.certainty.max(Certainty::Likely) } else { found.certainty };
                let weight = weight * weigh_certainty(use_certainty, found.n_meant) * DECAY;
                let certainty = certainty.max(use_certainty);
                reached.add_step(UseStep { node, depth, via, line: found.line, certainty, weight });
            }
        }
        if reached.cut.is_some() || structures.has_stopped() {
            break;
        }
        let mut new: Vec<usize> = (first_new..reached.steps.len()).collect();
        new.retain(|step| {
            let step = &reached.steps[*step];
            step.weight >= LEAST_FOLLOWED && step.certainty <= bounds.least_certain
        });
        new.sort_by(|one, other| reached.steps[*other].weight.total_cmp(&reached.steps[*one].weight));
        open = new
            .iter()
            .flat_map(|step| list_next_candidates(structures, reached.steps[*step].node, Some(*step)))
            .collect();
        reached.last_step = Some(depth).filter(|_| !open.is_empty());
    }
    Ok(reached)
}

/// Returns the steps to the users of removed definitions: those that use a name which no other definition has, import it from the old
/// file, or use it there.
pub(super) fn find_users_of_removed(
    structures: &WorktreeStructures<'_>,
    removed: &[(String, Vec<String>)],
) -> Result<FollowedSteps, DatabaseError> {
    let mut reached = FollowedSteps::default();
    let names: BTreeSet<(&str, &str)> = removed
        .iter()
        .flat_map(|(path, titles)| titles.iter().map(|title| (last_part(title), path.as_str())))
        .collect();
    for (name, path) in names {
        // If another definition has the name, only an import from the old file shows that the removed one is meant.
        let candidates = structures.find_candidates(name)?;
        let is_defined = !candidates.is_empty();
        let old_file = structures.paths.number_of(path);
        if structures.is_past_deadline() || is_defined && old_file.is_none() {
            continue;
        }
        let is_gone_from = |file: FileNumber| candidates.iter().all(|candidate| candidate.file != file);
        for file in structures.find_files_with_name(name)? {
            let structure = structures.structure_of(file);
            for used in structure.uses.iter().filter(|used| structure.name(used.name) == name) {
                let is_proved = old_file == Some(file)
                    && used.receiver == UseReceiver::None
                    && is_gone_from(file)
                    || old_file.is_some_and(|old| structures.is_imported_from(old, file, &structure, used));
                if is_defined && !is_proved {
                    continue;
                }
                let is_likely = is_proved || is_compound(name);
                let certainty = if is_likely { Certainty::Likely } else { Certainty::ByName };
                let node =
                    find_enclosing_definition(structures, CodeNode { file, declared: used.enclosing_id() });
                let weight = weigh_certainty(certainty, 1) * DECAY;
                reached.add_step(UseStep { node, depth: 1, via: None, line: used.line, certainty, weight });
                let step = reached.known[&node];
                reached.old_names.entry(step).or_insert_with(|| name.to_owned());
            }
        }
    }
    Ok(reached)
}

/// Adds steps to the types of Go that have the methods of an interface in `open`.
fn add_implementers(
    structures: &WorktreeStructures<'_>,
    open: &[(DefinitionCandidate, Option<usize>)],
    depth: u32,
    reached: &mut FollowedSteps,
) -> Result<(), DatabaseError> {
    for (interface, via) in open {
        if structures.is_past_deadline() {
            break;
        }
        let implementers = method_sets::find_implementers(structures, *interface)?;
        let sure = implementers.certainty;
        for found in implementers.types.iter().copied() {
            let line = found.declared_in(&structures.structure_of(found.file)).lines.0;
            let (weight, certainty) = reached.weight_and_certainty(*via);
            let (weight, certainty) = (weight * weigh_certainty(sure, 1) * DECAY, certainty.max(sure));
            reached.add_step(UseStep {
                node: CodeNode::from(found),
                depth,
                via: *via,
                line,
                certainty,
                weight,
            });
        }
    }
    Ok(())
}

/// Definitions with one name, each with the step that led to it.
type WantedDefinitions = HashMap<DefinitionCandidate, Option<usize>>;

/// Groups definitions by their names, in the order in which each name first occurs.
fn group_by_name(
    structures: &WorktreeStructures<'_>,
    open: &[(DefinitionCandidate, Option<usize>)],
) -> Vec<(String, WantedDefinitions)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<(String, WantedDefinitions)> = Vec::new();
    for (candidate, step) in open {
        let structure = structures.structure_of(candidate.file);
        for name in candidate.declared_in(&structure).own_names() {
            let place = *places.entry(name.to_owned()).or_insert(groups.len());
            if place == groups.len() {
                groups.push((name.to_owned(), WantedDefinitions::new()));
            }
            groups[place].1.entry(*candidate).or_insert(*step);
        }
    }
    groups
}

/// Returns the heaviest of the steps to definitions that a use may mean, with its definition.
fn find_heaviest_step(
    reached: &FollowedSteps,
    found: &ResolvedUse,
    wanted: &WantedDefinitions,
) -> Option<(Option<usize>, DefinitionCandidate)> {
    let steps = found.meant.iter().filter_map(|meant| Some((*wanted.get(meant)?, *meant)));
    steps.max_by(|one, other| {
        reached.weight_and_certainty(one.0).0.total_cmp(&reached.weight_and_certainty(other.0).0)
    })
}

fn is_followed_use(
    structures: &WorktreeStructures<'_>,
    edges: FollowedUses,
    found: &ResolvedUse,
    target: DefinitionCandidate,
) -> bool {
    !found.is_import
        && match edges {
            FollowedUses::Calls => match found.role {
                UseRole::Call => true,
                UseRole::Mention | UseRole::Field | UseRole::Alias => is_type_or_field(structures, target),
                UseRole::Base => false,
            },
            FollowedUses::Uses => true,
            FollowedUses::Bases => found.role == UseRole::Base,
        }
}

fn is_type_or_field(structures: &WorktreeStructures<'_>, target: DefinitionCandidate) -> bool {
    let structure = structures.structure_of(target.file);
    matches!(target.declared_in(&structure).role, DeclaredRole::Type | DeclaredRole::Field)
}

/// Returns the definition to which a place in the code belongs: a scope such as an `impl` block belongs to its type.
fn find_enclosing_definition(structures: &WorktreeStructures<'_>, place: CodeNode) -> CodeNode {
    let structure = structures.structure_of(place.file);
    let Some(own) = structure.find_item(place.declared) else { return place };
    if own.role != DeclaredRole::Scope {
        return place;
    }
    let of_type = structure
        .declared
        .iter()
        .position(|other| other.role == DeclaredRole::Type && other.title == own.title);
    CodeNode { declared: of_type.map(|id| id as u32).or(place.declared), ..place }
}

/// Returns the definitions whose uses are followed from a node: its own, for a constructor also its type, and for a definition inside of
/// a function also the function, because who calls that gets a closure that no name leads to: `return { request() { … } }`.
fn list_next_candidates(
    structures: &WorktreeStructures<'_>,
    node: CodeNode,
    step: Option<usize>,
) -> Vec<(DefinitionCandidate, Option<usize>)> {
    let Some(declared) = node.declared else { return Vec::new() };
    let structure = structures.structure_of(node.file);
    let own = &structure.declared[declared as usize];
    if matches!(own.role, DeclaredRole::Scope | DeclaredRole::Module) {
        return Vec::new();
    }
    let is_constructor = matches!(own.names.as_str(), "__init__" | "__new__" | "constructor");
    let of_type = own.parent.filter(|_| is_constructor);
    let around = structure.enclosing_ids(own.parent).filter(|id| is_made_by_calls(&structure, *id));
    [Some(declared), of_type]
        .into_iter()
        .flatten()
        .chain(around)
        .map(|declared| (DefinitionCandidate { file: node.file, declared }, step))
        .collect()
}

/// Returns whether what is inside of a definition is made when it is called, or was made by a call: `const app = create({ setup() {} })`.
fn is_made_by_calls(structure: &FileStructure, id: u32) -> bool {
    let own = &structure.declared[id as usize];
    own.is_callable
        || own.role == DeclaredRole::Free
            && structure.values.iter().any(|value| {
                value.enclosing_id() == own.parent
                    && !value.is_written
                    && structure.name(value.of).ends_with("()")
                    && structure.name(value.name) == own.names
            })
}

/// Returns the steps to the callees of definitions, and to their callees in turn, the nearest first and in the order of the text.
pub(super) fn follow_callees(
    structures: &WorktreeStructures<'_>,
    start: &[DefinitionCandidate],
    bounds: &FollowLimits,
) -> Result<FollowedSteps, DatabaseError> {
    let mut reached = FollowedSteps::default();
    let is_start: HashSet<CodeNode> = start.iter().map(|start| CodeNode::from(*start)).collect();
    let mut open: Vec<(DefinitionCandidate, Option<usize>)> =
        start.iter().map(|start| (*start, None)).collect();
    for depth in 1..=bounds.depth {
        let mut new = Vec::new();
        for (caller, via) in open {
            if reached.is_at_limit(structures) {
                return Ok(reached);
            }
            let structure = structures.structure_of(caller.file);
            let calls: Vec<&NameUse> =
                structure.uses.iter().filter(|used| is_call_in(&structure, used, caller)).collect();
            for (n_done, used) in calls.iter().enumerate() {
                if structures.is_past_deadline() {
                    let own = &caller.declared_in(&structure).title;
                    structures
                        .note_stop(|| format!("{n_done} of {} calls in {own} were looked at", calls.len()));
                    return Ok(reached);
                }
                let (found_certainty, meant) = structures.resolve_use(caller.file, &structure, used)?;
                let n_meant = meant.len();
                if n_meant == 0 || n_meant > MOST_MEANT && found_certainty != Certainty::Exact {
                    reached.n_unresolved_calls += usize::from(via.is_none());
                    continue;
                }
                let (weight, certainty) = reached.weight_and_certainty(via);
                let weight = weight * weigh_certainty(found_certainty, n_meant) * DECAY;
                let certainty = certainty.max(found_certainty);
                for callee in meant.into_iter().filter(|callee| !is_start.contains(&CodeNode::from(*callee)))
                {
                    let place = reached.steps.len();
                    let node = CodeNode::from(callee);
                    let is_new =
                        reached.add_step(UseStep { node, depth, via, line: used.line, certainty, weight });
                    if is_new && weight >= LEAST_FOLLOWED && certainty <= bounds.least_certain {
                        new.push((callee, Some(place)));
                    }
                }
            }
        }
        open = new;
    }
    Ok(reached)
}

/// Returns whether a use is a call inside a definition, including its inner definitions.
fn is_call_in(structure: &FileStructure, used: &NameUse, caller: DefinitionCandidate) -> bool {
    used.role == UseRole::Call
        && structure.enclosing_ids(used.enclosing_id()).any(|around| around == caller.declared)
}

/// Orders steps by depth, and those of one depth by certainty, the most certain first.
pub(super) fn compare_by_distance(one: &UseStep, other: &UseStep) -> Ordering {
    one.depth.cmp(&other.depth).then(one.certainty.cmp(&other.certainty)).then(one.node.cmp(&other.node))
}

fn weigh_certainty(certainty: Certainty, n_meant: usize) -> f64 {
    match certainty {
        Certainty::Exact => WEIGHT[0],
        Certainty::Likely => WEIGHT[1],
        Certainty::ByName => WEIGHT[2] / n_meant.max(1) as f64,
        Certainty::Similar => 0.0,
    }
}
