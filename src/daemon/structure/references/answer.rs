//! Makes the answers of `callers`, `callees`, `impact`, `tests` and `implements`.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::{Declared, DeclaredRole, SourceKey};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::Reader;
use memod_proto::{ReachParams, ReachResult, ReachedDefinition};
use memod_structure::resolve::{Candidate, Structures as _};

use super::BUDGET;
use super::changed_definitions::{Changes, Names};
use super::follow::{Bounds, Edges, Reached, Step, add_users_of_removed, callees, nearest, users};
use super::joined::{Joined, Node};
use super::similar_tests::similar;
use super::targets::{Targets, WholeFiles, of_files, targets};
use super::test_order::{self, is_test, outermost};
use super::texts::{Texts, entries};
use crate::daemon::request::error::bad_params;
use crate::daemon::shared::Shared;

/// Definitions in a result when the caller names no number.
const LIMIT: usize = 100;
/// Most definitions that a result names as asked for.
const MOST_DEFINITIONS: usize = 100;
/// Greatest and default number of steps.
const DEPTH: u32 = 8;

/// What is asked about definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum Question {
    Callers,
    Callees,
    Impact,
    Tests,
    Implements,
}

impl Question {
    fn edges(self) -> Edges {
        match self {
            Self::Callers | Self::Callees => Edges::Calls,
            Self::Impact | Self::Tests => Edges::Uses,
            Self::Implements => Edges::Bases,
        }
    }

    fn depth(self) -> u32 {
        if matches!(self, Self::Callers | Self::Callees) { 1 } else { DEPTH }
    }

    /// Whether files and changes can be asked for.
    pub(super) fn is_of_changes(self) -> bool {
        matches!(self, Self::Impact | Self::Tests)
    }
}

/// Answers a question at a snapshot, about `changes` if those are meant. Also returns how many changed definitions are not there,
/// and the files whose text is another one by now.
pub(super) fn answer(
    shared: &Shared,
    (question, params): (Question, &ReachParams),
    changes: Option<&Changes>,
    at: &Freshness,
) -> RpcResult<((ReachResult, usize), Vec<SourceKey>)> {
    let depth = params.depth.unwrap_or(question.depth());
    if !(1..=DEPTH).contains(&depth) {
        let message = format!("depth: {depth} is not between 1 and {DEPTH}");
        return Err(bad_params(message).with_hint("leave it out for the depth that the help names"));
    }
    let bounds = Bounds { depth, until: Instant::now() + BUDGET };
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let read = |reader: &Reader| -> RpcResult<_> {
        let gone = changes.map(Changes::old_paths).unwrap_or_default();
        let joined = Joined::new((shared, reader), (at.view, &at.layout.root), gone, bounds.until)?;
        let targets = match changes {
            Some(changes) => of_files(reader, &joined, at, changes)?,
            None => {
                let whole = if question.is_of_changes() { WholeFiles::Allowed } else { WholeFiles::Refused };
                let target = params.target.as_deref().unwrap_or_default();
                targets((shared, reader), &joined, at, (target, &params.cwd), whole)?
            }
        };
        let start = with_members(&joined, &targets, question);
        let mut reached = match question {
            Question::Callees => callees(&joined, &start, &bounds)?,
            _ => users(&joined, &start, question.edges(), &bounds)?,
        };
        if let Some(changes) = changes {
            let gone = with_renamed(reader, at, changes)?;
            add_users_of_removed(&joined, &gone, &mut reached)?;
        }
        let (mut alike, mut why_not_alike) = (Vec::new(), None);
        if question == Question::Tests {
            reached.add_starts(&joined, &start, |node| is_test(&joined, node));
            let removed: Vec<String> = changes.map(|changes| titles_of(&changes.removed)).unwrap_or_default();
            (alike, why_not_alike) = similar((shared, reader), &joined, (at, &dir), (&targets, &removed))?;
        }
        let limit = params.limit.unwrap_or(LIMIT);
        let mut result = made(&joined, (question, &targets), (reached, &alike), limit);
        result.cut = result.cut.or_else(|| joined.cut().map(str::to_owned)).or(why_not_alike);
        let entries = entries(reader, at, result.found.iter().map(|found| SourceKey::new(&found.path)))?;
        Ok((result, targets, entries))
    };
    let read = shared.engine.read(|reader: &Reader| reader.snapshot(read));
    let (mut result, targets, entries) = read?;
    let texts = Texts::new((shared, at), &dir, entries);
    let stale = texts.fill(&mut result.found, question == Question::Callees)?;
    let definitions = targets.shown(&dir);
    let removed = changes.map(|changes| names_of(&changes.removed)).unwrap_or_default();
    result.n_definitions = definitions.len() + removed.len();
    result.removed = removed.into_iter().take(MOST_DEFINITIONS).collect();
    result.definitions = definitions.into_iter().take(MOST_DEFINITIONS).collect();
    let unknown = targets.unknown_language();
    result.fresh = at.fresh;
    result.cut = result.cut.or(unknown);
    result.reason.clone_from(&at.reason);
    "repo".clone_into(&mut result.trust);
    Ok(((result, targets.n_gone), stale))
}

/// Returns `PATH#SYMBOL` of definitions.
fn names_of(files: &[(String, Vec<String>)]) -> Vec<String> {
    let of_file = |(path, titles): &(String, Vec<String>)| -> Vec<String> {
        titles.iter().map(|title| format!("{path}#{title}")).collect()
    };
    files.iter().flat_map(of_file).collect()
}

/// Returns the definitions that were removed, and those that renamed files had at their old paths.
fn with_renamed(reader: &Reader, at: &Freshness, changes: &Changes) -> Result<Names, DatabaseError> {
    let mut gone = changes.removed.clone();
    for (old, new) in &changes.renamed {
        let definitions = reader.definitions(at.view, &SourceKey::new(new))?;
        gone.push((old.clone(), definitions.into_iter().map(|found| found.title).collect()));
    }
    Ok(gone)
}

/// Returns the qualified names of the definitions of all files.
fn titles_of(files: &[(String, Vec<String>)]) -> Vec<String> {
    files.iter().flat_map(|(_, titles)| titles.clone()).collect()
}

/// Returns the definitions to begin with: those asked for, and for `impact`, `tests` and `callees` also the members of types in the
/// same file.
fn with_members(joined: &Joined<'_>, targets: &Targets, question: Question) -> Vec<Candidate> {
    let mut start = targets.declared.clone();
    if !question.is_of_changes() && question != Question::Callees {
        return start;
    }
    let mut known: HashSet<Candidate> = start.iter().copied().collect();
    for of_file in targets.declared.chunk_by(|one, other| one.file == other.file) {
        let (file, structure) = (of_file[0].file, joined.of(of_file[0].file));
        let declared = of_file.iter().map(|own| &structure.declared[own.declared as usize]);
        let types: HashSet<&str> =
            declared.filter(|own| own.role == DeclaredRole::Type).map(|own| own.title.as_str()).collect();
        let is_member =
            |other: &Declared| other.role == DeclaredRole::Member && types.contains(other.owner());
        let members = structure.declared.iter().enumerate().filter(|(_, other)| is_member(other));
        let members = members.map(|(id, _)| Candidate { file, declared: id as u32 });
        start.extend(members.filter(|member| known.insert(*member)));
    }
    start
}

/// Makes a result of what was reached, without its texts.
fn made(
    joined: &Joined<'_>,
    (question, targets): (Question, &Targets),
    (mut reached, alike): (Reached, &[Node]),
    limit: usize,
) -> ReachResult {
    let sorted = |reached: &Reached, compare: fn(&Step, &Step) -> Ordering| {
        let mut order: Vec<usize> = (0..reached.steps.len()).collect();
        order.sort_by(|one, other| compare(&reached.steps[*one], &reached.steps[*other]));
        order
    };
    let mut order = match question {
        Question::Callers => sorted(&reached, nearest),
        Question::Callees => (0..reached.steps.len()).collect(),
        Question::Tests => test_order::ordered(joined, &targets.names(), alike, &mut reached),
        _ => sorted(&reached, weightiest),
    };
    let is_test: Vec<bool> = reached.steps.iter().map(|step| is_test(joined, step.node)).collect();
    let n_found = order.len();
    let n_tests = order.iter().filter(|step| is_test[**step]).count();
    order.truncate(limit);
    let places: HashMap<usize, usize> =
        order.iter().enumerate().map(|(place, step)| (*step, place)).collect();
    let found = order.iter().map(|&id| {
        let step = &reached.steps[id];
        let structure = joined.of(step.node.file);
        let node = if question == Question::Tests { outermost(joined, step.node) } else { step.node };
        let own = node.declared.and_then(|id| structure.declared.get(id as usize));
        ReachedDefinition {
            path: joined.key(step.node.file).to_string(),
            title: own.map(|own| own.title.clone()),
            lines: own.map_or((step.line, step.line), |own| own.lines),
            line: step.line,
            depth: step.depth,
            via: step.via.and_then(|via| places.get(&via).copied()),
            certainty: step.certainty.as_str().to_owned(),
            is_test: is_test[id],
            ..ReachedDefinition::default()
        }
    });
    let found = found.collect();
    let cut = reached.cut.map(str::to_owned);
    ReachResult { found, n_found, n_tests, n_untold: reached.n_untold, cut, ..ReachResult::default() }
}

fn weightiest(one: &Step, other: &Step) -> Ordering {
    other.weight.total_cmp(&one.weight).then_with(|| nearest(one, other))
}
