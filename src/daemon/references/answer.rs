//! Makes the answers of `callers`, `callees`, `impact`, `tests` and `implements`.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::follow::{Bounds, Edges, Reached, Step, callees, nearest, users};
use super::joined::Joined;
use super::targets::{Targets, WholeFiles, of_files, targets};
use super::test_order::{self, is_test, outermost};
use super::texts::Texts;
use super::word;
use crate::daemon::error::{RpcResult, bad_params};
use crate::daemon::event::Freshness;
use crate::daemon::shared::Shared;
use crate::paths::CallerDir;
use crate::proto::{ReachParams, ReachResult, ReachedDefinition};
use crate::resolve::{Candidate, Structures as _, owner_of};
use crate::store::Reader;
use crate::types::{Declared, DeclaredRole, SourceKey};

/// Time for following uses; what is found until then is the answer.
const BUDGET: Duration = Duration::from_secs(8);
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

/// Answers a question at a snapshot; `changed` are the paths and qualified names of changed definitions, if those are meant.
pub(super) fn answer(
    shared: &Shared,
    (question, params): (Question, &ReachParams),
    changed: Option<&[(String, Vec<String>)]>,
    at: &Freshness,
) -> RpcResult<(ReachResult, Vec<SourceKey>)> {
    let depth = params.depth.unwrap_or(question.depth());
    if !(1..=DEPTH).contains(&depth) {
        let message = format!("depth: {depth} is not between 1 and {DEPTH}");
        return Err(bad_params(message).with_hint("leave it out for the depth that the help names"));
    }
    let bounds = Bounds { depth, until: Instant::now() + BUDGET };
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let read = |reader: &Reader| -> RpcResult<_> {
        let joined = Joined::new(shared, reader, at.view)?;
        let targets = match changed {
            Some(changed) => of_files(reader, &joined, at, changed)?,
            None => {
                let whole = if question.is_of_changes() { WholeFiles::Allowed } else { WholeFiles::Refused };
                let target = params.target.as_deref().unwrap_or_default();
                targets((shared, reader), &joined, at, (target, &params.cwd), whole)?
            }
        };
        let start = with_members(&joined, &targets, question);
        let reached = match question {
            Question::Callees => callees(&joined, &start, &bounds)?,
            _ => users(&joined, &start, question.edges(), &bounds)?,
        };
        let limit = params.limit.unwrap_or(LIMIT);
        Ok((made(&joined, (question, &targets), reached, limit), targets))
    };
    let (mut result, targets) = shared.read(|reader: &Reader| reader.snapshot(read))?;
    let stale = Texts::new(shared, at, &dir).fill(&mut result.found, question == Question::Callees)?;
    let definitions = targets.shown(&dir);
    result.n_definitions = definitions.len();
    result.definitions = definitions.into_iter().take(MOST_DEFINITIONS).collect();
    let unknown = targets.unknown_language();
    result.fresh = at.fresh;
    result.cut = result.cut.or(unknown);
    result.reason.clone_from(&at.reason);
    "repo".clone_into(&mut result.trust);
    Ok((result, stale))
}

/// Returns the definitions to begin with: those asked for, and the members of types, where uses of any count.
fn with_members(joined: &Joined<'_>, targets: &Targets, question: Question) -> Vec<Candidate> {
    let mut start = targets.declared.clone();
    if !question.is_of_changes() && question != Question::Callees {
        return start;
    }
    for target in &targets.declared {
        let structure = joined.of(target.file);
        let own = &structure.declared[target.declared as usize];
        let is_member = |other: &Declared| {
            own.role == DeclaredRole::Type
                && other.role == DeclaredRole::Member
                && owner_of(other) == own.title
        };
        let members = structure.declared.iter().enumerate().filter(|(_, other)| is_member(other));
        let members = members.map(|(id, _)| Candidate { file: target.file, declared: id as u32 });
        let new: Vec<_> = members.filter(|member| !start.contains(member)).collect();
        start.extend(new);
    }
    start
}

/// Makes a result of what was reached, without its texts.
fn made(
    joined: &Joined<'_>,
    (question, targets): (Question, &Targets),
    mut reached: Reached,
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
        Question::Tests => test_order::ordered(joined, &targets.names(), &mut reached),
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
            certainty: word(step.certainty).to_owned(),
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
