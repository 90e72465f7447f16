//! Answers `callers`, `callees`, `impact`, `tests` and `implements` at a snapshot.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{DeclaredRole, SourceKey};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::{ReachParams, ReachResult, ReachedDefinition};
use memod_structure::resolve::{Certainty, DefinitionCandidate, FileNumber, StructureStore as _};

use super::answer_texts::{AnswerTexts, read_entries};
use super::changed_definitions::{ChangedDefinitions, DefinitionsByFile};
use super::follow_uses::{
    FollowLimits, FollowedSteps, FollowedUses, UseStep, compare_by_distance, find_users_of_removed,
    follow_callees, follow_users,
};
use super::question_targets::{QuestionTargets, WholeFiles, find_changed_targets, find_targets};
use super::test_order::is_test;
use super::tests_question::answer_tests;
use super::unsearched_files::{find_files_read_as_text, find_unsearched_files};
use super::worktree_structures::{BUDGET, WorktreeStructures};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;

/// Default maximum number of definitions in a result.
const LIMIT: usize = 100;
/// Maximum number of requested definitions that a result names.
const MOST_DEFINITIONS: usize = 100;
/// Maximum number of steps, and the default for `tests` and `implements`.
const DEPTH: u32 = 8;
/// Default number of steps for `impact`. What is farther is rarely affected, and there is much of it.
const IMPACT_DEPTH: u32 = 2;

/// A question about the uses of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum UseQuestion {
    Callers,
    Callees,
    Impact,
    Tests,
    Implements,
}

impl UseQuestion {
    fn followed_uses(self) -> FollowedUses {
        match self {
            Self::Callers | Self::Callees => FollowedUses::Calls,
            Self::Impact | Self::Tests => FollowedUses::Uses,
            Self::Implements => FollowedUses::Bases,
        }
    }

    fn default_depth(self) -> u32 {
        match self {
            Self::Callers | Self::Callees => 1,
            Self::Impact => IMPACT_DEPTH,
            Self::Tests | Self::Implements => DEPTH,
        }
    }

    /// Returns the least certain uses that are followed further. What only names lead to is followed for tests, because a wrong
    /// test costs little and a missing one much.
    fn least_certain_to_follow(self, all: bool) -> Certainty {
        if all || self == Self::Tests { Certainty::ByName } else { Certainty::Likely }
    }

    /// Returns what a question about a whole file is about.
    fn whole_files(self) -> WholeFiles {
        match self {
            Self::Impact | Self::Tests => WholeFiles::Allowed,
            Self::Callers => WholeFiles::UsesElsewhere,
            Self::Callees | Self::Implements => WholeFiles::Refused,
        }
    }

    /// Returns whether a question may be about changes.
    pub(super) fn allows_changes(self) -> bool {
        matches!(self, Self::Impact | Self::Tests)
    }
}

/// Answers a question at a snapshot, about `changes` if they are given, else about the target. Also returns how many changed
/// definitions do not exist in the snapshot, and the files whose text has changed since.
pub(super) fn answer_question(
    request: &RequestContext,
    (question, params): (UseQuestion, &ReachParams),
    changes: Option<&ChangedDefinitions>,
    at: &Freshness,
) -> RpcResult<((ReachResult, usize), Vec<SourceKey>)> {
    let depth = choose_depth(question, params)?;
    let least_certain = question.least_certain_to_follow(params.all);
    let (bounds, until) = (FollowLimits { depth, least_certain }, Instant::now() + BUDGET);
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let read = request.shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| -> RpcResult<_> {
            let gone = changes.map(ChangedDefinitions::old_paths).unwrap_or_default();
            let structures = WorktreeStructures::new(
                (&request.shared, reader),
                (at.worktree, &at.layout.root),
                gone,
                until,
            )?;
            let targets = match changes {
                Some(changes) => find_changed_targets(reader, &structures, at, changes)?,
                None => {
                    let whole = question.whole_files();
                    let target = params.target.as_deref().unwrap_or_default();
                    find_targets((request, reader), &structures, at, (target, &params.cwd), whole)?
                }
            };
            let start = add_type_members(&structures, &targets, question);
            let of_removed = match changes {
                Some(changes) => {
                    find_users_of_removed(&structures, &list_gone_definitions(reader, at, changes)?)?
                }
                None => FollowedSteps::default(),
            };
            let mut reached = match question {
                UseQuestion::Callees => follow_callees(&structures, &start, &bounds)?,
                _ => follow_users(&structures, &start, question.followed_uses(), &bounds, of_removed)?,
            };
            let mut result = if question == UseQuestion::Tests {
                reached.add_starts(&structures, &start, |node| is_test(&structures, node));
                let removed: Vec<String> =
                    changes.map(|changes| list_titles(&changes.removed)).unwrap_or_default();
                let subject = (&targets, removed.as_slice());
                let engine = (&*request.shared, reader);
                answer_tests(engine, &structures, (at, &dir), subject, (reached, params))?
            } else {
                build_result(
                    &structures,
                    (question, params.all, &targets),
                    &reached,
                    params.limit.unwrap_or(LIMIT),
                )
            };
            structures.note_unread_index(&request.caveats);
            if question != UseQuestion::Callees {
                add_unknown_files(reader, (at, &dir), (&structures, &start), &mut result)?;
            }
            let too_many = targets.why_left_out().filter(|_| !structures.has_stopped());
            result.cut = too_many.or_else(|| structures.why_cut()).or(result.cut);
            let entries =
                read_entries(reader, at, result.found.iter().map(|found| SourceKey::new(&found.path)))?;
            Ok((result, targets, entries))
        })
    });
    let (mut result, targets, entries) = read?;
    let texts = AnswerTexts::new((&request.shared, at), &dir, entries);
    let stale = texts.add_texts(&mut result.found, question == UseQuestion::Callees)?;
    let definitions = targets.list_definitions(&dir);
    let removed = changes.map(|changes| list_path_symbols(&changes.removed)).unwrap_or_default();
    result.n_definitions = definitions.len() + removed.len();
    result.removed = removed.into_iter().take(MOST_DEFINITIONS).collect();
    result.definitions = definitions.into_iter().take(MOST_DEFINITIONS).collect();
    let unknown = targets.why_uses_unknown();
    result.fresh = at.fresh;
    result.cut = result.cut.or(unknown);
    result.reason.clone_from(&at.reason);
    "repo".clone_into(&mut result.trust);
    Ok(((result, targets.n_gone), stale))
}

/// Adds to an answer the files in which there may be further uses of the definitions `start`.
fn add_unknown_files(
    reader: &IndexReader,
    (at, dir): (&Freshness, &CallerDir),
    (structures, start): (&WorktreeStructures<'_>, &[DefinitionCandidate]),
    result: &mut ReachResult,
) -> Result<(), DatabaseError> {
    if result.n_found == 0 {
        (result.unsearched, result.n_more_unsearched) =
            find_unsearched_files(reader, (at, dir), structures, start)?;
    }
    (result.read_as_text, result.n_more_read_as_text) = find_files_read_as_text(structures, start)?;
    Ok(())
}

/// Returns the number of steps to follow.
///
/// # Errors
/// When the requested number is out of range.
fn choose_depth(question: UseQuestion, params: &ReachParams) -> RpcResult<u32> {
    let depth = params.depth.unwrap_or(question.default_depth());
    if (1..=DEPTH).contains(&depth) {
        return Ok(depth);
    }
    let message = format!("depth: {depth} is not between 1 and {DEPTH}");
    Err(bad_params_error(message).with_hint("omit the depth for the default; the help names it"))
}

/// Returns `PATH#SYMBOL` for each definition of some files.
fn list_path_symbols(files: &[(String, Vec<String>)]) -> Vec<String> {
    files
        .iter()
        .flat_map(|(path, titles)| -> Vec<String> {
            titles.iter().map(|title| format!("{path}#{title}")).collect()
        })
        .collect()
}

/// Returns the definitions that were removed, and those that renamed files had at their old paths.
fn list_gone_definitions(
    reader: &IndexReader,
    at: &Freshness,
    changes: &ChangedDefinitions,
) -> Result<DefinitionsByFile, DatabaseError> {
    let mut gone = changes.removed.clone();
    for (old, new) in &changes.renamed {
        let definitions = reader.list_definitions(at.worktree, &SourceKey::new(new))?;
        gone.push((old.clone(), definitions.into_iter().map(|found| found.title).collect()));
    }
    Ok(gone)
}

/// Returns the qualified names of all definitions of some files.
fn list_titles(files: &[(String, Vec<String>)]) -> Vec<String> {
    files.iter().flat_map(|(_, titles)| titles.clone()).collect()
}

/// Returns the definitions to start from: the requested ones, and for `impact`, `tests` and `callees` also the members of requested
/// types in the same file.
fn add_type_members(
    structures: &WorktreeStructures<'_>,
    targets: &QuestionTargets,
    question: UseQuestion,
) -> Vec<DefinitionCandidate> {
    let mut start = targets.declared.clone();
    if !question.allows_changes() && question != UseQuestion::Callees {
        return start;
    }
    let mut known: HashSet<DefinitionCandidate> = start.iter().copied().collect();
    for of_file in targets.declared.chunk_by(|one, other| one.file == other.file) {
        let (file, structure) = (of_file[0].file, structures.structure_of(of_file[0].file));
        let declared = of_file.iter().map(|own| own.declared_in(&structure));
        let types: HashSet<&str> =
            declared.filter(|own| own.role == DeclaredRole::Type).map(|own| own.title.as_str()).collect();
        let members = structure.declared.iter().enumerate();
        let members = members
            .filter(|(_, other)| other.role == DeclaredRole::Member && types.contains(other.owner_title()));
        let members = members.map(|(id, _)| DefinitionCandidate { file, declared: id as u32 });
        start.extend(members.filter(|member| known.insert(*member)));
    }
    start
}

/// Returns the result with the definitions that were reached, without their texts.
fn build_result(
    structures: &WorktreeStructures<'_>,
    (question, all, targets): (UseQuestion, bool, &QuestionTargets),
    reached: &FollowedSteps,
    limit: usize,
) -> ReachResult {
    let mut order = match question {
        UseQuestion::Callers => sort_steps(reached, compare_by_distance),
        UseQuestion::Callees => (0..reached.steps.len()).collect(),
        UseQuestion::Impact => order_impact(reached),
        UseQuestion::Implements | UseQuestion::Tests => sort_steps(reached, compare_by_weight),
    };
    order.retain(|id| {
        let step = &reached.steps[*id];
        targets.wants_use_in(step.node.file, step.certainty)
    });
    let n_by_name =
        if question == UseQuestion::Impact && !all { remove_uncertain(reached, &mut order) } else { 0 };
    let is_test: Vec<bool> = reached.steps.iter().map(|step| is_test(structures, step.node)).collect();
    let n_found = order.len();
    let n_tests = order.iter().filter(|step| is_test[**step]).count();
    order.truncate(limit);
    let places: HashMap<usize, usize> =
        order.iter().enumerate().map(|(place, step)| (*step, place)).collect();
    let found = order.iter().map(|&id| {
        let step = &reached.steps[id];
        let structure = structures.structure_of(step.node.file);
        let own = structure.find_item(step.node.declared);
        ReachedDefinition {
            path: structures.source_key(step.node.file).to_string(),
            title: own.map(|own| own.title.clone()),
            lines: own.map_or((step.line, step.line), |own| own.lines),
            line: step.line,
            text_line: own.map(|own| own.name_at.0),
            depth: step.depth,
            via: step.via.and_then(|via| places.get(&via).copied()),
            certainty: step.certainty.as_str().to_owned(),
            old_name: reached.old_names.get(&id).cloned(),
            is_test: is_test[id],
            ..ReachedDefinition::default()
        }
    });
    let found = found.collect();
    let cut = reached.cut.map(str::to_owned);
    ReachResult {
        found,
        n_found,
        n_by_name,
        n_tests,
        n_untold: reached.n_unresolved_calls,
        n_passing: if question == UseQuestion::Callers { reached.n_passing() } else { 0 },
        cut,
        ..ReachResult::default()
    }
}

/// Returns the numbers of all steps, ordered by `compare`.
fn sort_steps(reached: &FollowedSteps, compare: fn(&UseStep, &UseStep) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..reached.steps.len()).collect();
    order.sort_by(|one, other| compare(&reached.steps[*one], &reached.steps[*other]));
    order
}

/// Returns the numbers of all steps for `impact`: the definitions of a file together in the order of its text, first the file with the
/// surest and heaviest use.
fn order_impact(reached: &FollowedSteps) -> Vec<usize> {
    let best_first = sort_steps(reached, |one, other| {
        one.certainty.cmp(&other.certainty).then_with(|| compare_by_weight(one, other))
    });
    let mut places: HashMap<(bool, FileNumber), usize> = HashMap::new();
    // Definitions that only a name leads to come last, also within a file.
    let place_of = |step: &UseStep| (step.certainty >= Certainty::ByName, step.node.file);
    for (place, step) in best_first.iter().enumerate() {
        places.entry(place_of(&reached.steps[*step])).or_insert(place);
    }
    let mut order = best_first;
    order.sort_by_key(|step| {
        let step = &reached.steps[*step];
        (places[&place_of(step)], step.node)
    });
    order
}

/// Removes the steps to which only names lead, unless there are no others. Returns how many were removed. What still uses the name of a
/// removed definition stays, because it breaks.
fn remove_uncertain(reached: &FollowedSteps, order: &mut Vec<usize>) -> usize {
    let is_certain = |step: &usize| reached.steps[*step].certainty < Certainty::ByName;
    if !order.iter().any(is_certain) {
        return 0;
    }
    let n_before = order.len();
    order.retain(|step| is_certain(step) || reached.old_names.contains_key(step));
    n_before - order.len()
}

fn compare_by_weight(one: &UseStep, other: &UseStep) -> Ordering {
    other.weight.total_cmp(&one.weight).then_with(|| compare_by_distance(one, other))
}
