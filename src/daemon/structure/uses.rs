//! Finds the uses of a definition, its callees and its dependents, each with a certainty.

mod answer_texts;
mod changed_definitions;
mod companions;
mod find_fakes;
mod find_uses;
mod follow_uses;
mod http_tests;
mod implementers;
mod listed_tests;
mod match_tests_by_name;
mod method_sets;
mod overridden_members;
mod question_targets;
mod route_mounts;
mod similar_tests;
mod test_neighbours;
mod test_order;
mod test_texts;
mod tests_question;
mod unsearched_files;
mod use_questions;
mod worktree_structures;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use memod_base::paths::CallerDir;
use memod_base::types::SourceKey;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::{FreshnessLevel, ReachParams, ReachResult, RefCounts, RefUse, RefsParams, RefsResult};
use memod_structure::resolve::{Certainty, DefinitionCandidate, StructureStore as _};

use self::answer_texts::{AnswerTexts, MOST_CHARS, read_entries};
use self::changed_definitions::{ChangedDefinitions, explain_removed_name, find_changed_definitions};
use self::companions::find_memories_and_commits;
use self::find_uses::ResolvedUse;
use self::question_targets::{WholeFiles, find_targets};
use self::unsearched_files::{find_files_read_as_text, find_unsearched_files};
use self::worktree_structures::{BUDGET, WorktreeStructures};
use crate::daemon::request::fresh_snapshot::{
    SnapshotRequest, question_deadline, request_deadline, run_on_snapshot,
};
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
pub(in crate::daemon) use use_questions::UseQuestion;

/// Default maximum number of uses in a result.
const LIMIT: usize = 100;
/// Maximum number of times that an answer about changes is computed again.
const RERUNS: usize = 3;

/// Answers `refs`.
pub(in crate::daemon) async fn answer_refs(
    request: &Arc<RequestContext>,
    params: RefsParams,
) -> RpcResult<RefsResult> {
    let began = Instant::now();
    let ask = build_snapshot_ask(request, &params.cwd, params.sync, params.wait_ms);
    let (cwd, with, until) = (params.cwd.clone(), params.with.clone(), ask.deadline);
    let question = ReachParams {
        cwd: params.cwd.clone(),
        target: Some(params.target.clone()),
        sync: params.sync,
        wait_ms: params.wait_ms,
        ..ReachParams::default()
    };
    let read = run_on_snapshot(request, ask, move |request, at, _| find_refs_at(request, &params, at)).await;
    let (mut result, why_not) = match read {
        Ok(read) => read,
        Err(error) => return Err(explain_removed_name(request, &question, error).await),
    };
    let defined = result.definitions.iter().map(|defined| (defined.path.clone(), vec![defined.lines]));
    let places =
        defined.chain(result.uses.iter().map(|used| (used.path.clone(), vec![(used.line, used.line)])));
    let companions = find_memories_and_commits(request, &cwd, &with, places.collect(), until).await?;
    (result.memories, result.commits) = (companions.memories, companions.commits);
    result.cut = result.cut.or(companions.cut);
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// Answers `callers`, `callees`, `impact`, `tests` and `implements`.
pub(in crate::daemon) async fn answer_use_question(
    request: &Arc<RequestContext>,
    question: UseQuestion,
    params: ReachParams,
) -> RpcResult<ReachResult> {
    let began = Instant::now();
    if params.since.is_some() && !question.allows_changes() {
        return Err(bad_params_error("since: only `impact` and `tests` take a revision".to_owned()));
    }
    let mut result = match (&params.since, &params.target) {
        (Some(_), Some(_)) => {
            let hint = "leave one of them out";
            return Err(bad_params_error("target and since: only one is possible".to_owned()).with_hint(hint));
        }
        (None, None) if !question.allows_changes() => {
            let hint = "give PATH, PATH#SYMBOL, PATH:LINE or a name";
            return Err(bad_params_error("target: missing".to_owned()).with_hint(hint));
        }
        (None, Some(_)) => match answer_at_snapshot(request, question, &params, None).await {
            Ok((result, _)) => result,
            Err(error) => return Err(explain_removed_name(request, &params, error).await),
        },
        (_, None) => answer_about_changes(request, question, &params).await?,
    };
    let until = request_deadline(request, params.wait_ms);
    let defined = result.definitions.iter().map(|defined| (defined.path.clone(), vec![defined.lines]));
    let places = defined.chain(result.found.iter().map(|found| (found.path.clone(), vec![found.lines])));
    let added =
        find_memories_and_commits(request, &params.cwd, &params.with, places.collect(), until).await?;
    (result.memories, result.commits) = (added.memories, added.commits);
    result.cut = result.cut.or(added.cut);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// Answers a question about the changes since a revision. The changes and the answer come from two snapshots, so both are computed
/// again if a changed definition does not exist in the second one.
async fn answer_about_changes(
    request: &Arc<RequestContext>,
    question: UseQuestion,
    params: &ReachParams,
) -> RpcResult<ReachResult> {
    let mut n_left = RERUNS;
    loop {
        let changes = Arc::new(find_changed_definitions(request, params).await?);
        let (mut result, n_gone) =
            answer_at_snapshot(request, question, params, Some(Arc::clone(&changes))).await?;
        if n_gone == 0 || n_left == 0 {
            let why = (n_gone > 0).then(|| "files changed while the answer was made".to_owned());
            let why = changes.why_not_fresh.clone().or(why);
            result.fresh &= why.is_none();
            result.reason = result.reason.or(why);
            result.cut = result.cut.or_else(|| changes.cut.clone());
            return Ok(result);
        }
        n_left -= 1;
    }
}

/// Answers a question from one snapshot; also returns how many changed definitions do not exist there.
async fn answer_at_snapshot(
    request: &Arc<RequestContext>,
    question: UseQuestion,
    params: &ReachParams,
    changes: Option<Arc<ChangedDefinitions>>,
) -> RpcResult<(ReachResult, usize)> {
    let ask = build_snapshot_ask(request, &params.cwd, params.sync, params.wait_ms);
    let params = params.clone();
    let ((mut result, n_gone), why_not) = run_on_snapshot(request, ask, move |request, at, _| {
        use_questions::answer_question(request, (question, &params), changes.as_deref(), at)
    })
    .await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    Ok((result, n_gone))
}

fn build_snapshot_ask(
    request: &RequestContext,
    cwd: &str,
    level: FreshnessLevel,
    wait_ms: Option<u64>,
) -> SnapshotRequest {
    SnapshotRequest {
        cwd: cwd.to_owned(),
        level,
        deadline: question_deadline(request, wait_ms),
        needs_commits: false,
    }
}

/// A use, with its file and the title of the definition around the use.
struct LocatedUse {
    key: SourceKey,
    within: Option<String>,
    found: ResolvedUse,
}

impl LocatedUse {
    /// Returns the file, line and column of the use.
    fn position(&self) -> (SourceKey, u32, u32) {
        (self.key.clone(), self.found.line, self.found.column)
    }
}

fn find_refs_at(
    request: &RequestContext,
    params: &RefsParams,
    at: &Freshness,
) -> RpcResult<(RefsResult, Vec<SourceKey>)> {
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let until = Instant::now() + BUDGET;
    let read = request.shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| -> RpcResult<_> {
            let structures = WorktreeStructures::new(
                (&request.shared, reader),
                (at.worktree, &at.layout.root),
                [],
                until,
            )?;
            let target = (params.target.as_str(), params.cwd.as_str());
            let targets =
                find_targets((request, reader), &structures, at, target, WholeFiles::UsesElsewhere)?;
            let mut found = list_uses(&structures, &targets.declared)?;
            found.retain(|shown| targets.wants_use_in(shown.found.within.file, shown.found.certainty));
            let counts = count_by_certainty(&found);
            found.truncate(params.limit.unwrap_or(LIMIT));
            let entries = read_entries(reader, at, found.iter().map(|shown| shown.key.clone()))?;
            structures.note_unread_index(&request.caveats);
            let unsearched = match found.is_empty() {
                true => find_unsearched_files(reader, (at, &dir), &structures, &targets.declared)?,
                false => Default::default(),
            };
            let as_text = find_files_read_as_text(&structures, &targets.declared)?;
            let too_many = targets.why_left_out().filter(|_| !structures.has_stopped());
            let cut = too_many.or_else(|| structures.why_cut());
            Ok((targets, counts, found, entries, cut, (unsearched, as_text)))
        })
    });
    let (targets, counts, found, entries, cut, (unsearched, as_text)) = read?;
    let ((unsearched, n_more_unsearched), (read_as_text, n_more_read_as_text)) = (unsearched, as_text);
    let (uses, stale) =
        add_lines_to_uses(&found, AnswerTexts::new((&request.shared, at), &dir, entries), &dir)?;
    let result = RefsResult {
        definitions: targets.list_definitions(&dir),
        uses,
        counts,
        cut: cut.or_else(|| targets.why_uses_unknown()),
        unsearched,
        n_more_unsearched,
        read_as_text,
        n_more_read_as_text,
        memories: Vec::new(),
        commits: Vec::new(),
        fresh: at.fresh,
        reason: at.reason.clone(),
        trust: "repo".to_owned(),
        took_ms: 0.0,
    };
    Ok((result, stale))
}

fn count_by_certainty(found: &[LocatedUse]) -> RefCounts {
    RefCounts {
        exact: count_uses(found, Certainty::Exact),
        likely: count_uses(found, Certainty::Likely),
        by_name: count_uses(found, Certainty::ByName),
    }
}

fn count_uses(found: &[LocatedUse], certainty: Certainty) -> usize {
    found.iter().filter(|located| located.found.certainty == certainty).count()
}

/// Returns the uses of definitions: those in the files with the surest uses first, and in each file by line.
fn list_uses(
    structures: &WorktreeStructures<'_>,
    wanted: &[DefinitionCandidate],
) -> Result<Vec<LocatedUse>, DatabaseError> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for own in wanted {
        let structure = structures.structure_of(own.file);
        names.extend(own.declared_in(&structure).own_names().map(str::to_owned));
    }
    let mut all = Vec::new();
    for name in names {
        all.extend(structures.find_uses(&name, wanted)?.into_iter().map(|found| {
            let structure = structures.structure_of(found.within.file);
            let within = structure.find_item(found.within.declared).map(|within| within.title.clone());
            LocatedUse { key: structures.source_key(found.within.file), within, found }
        }));
    }
    let mut best: HashMap<SourceKey, Certainty> = HashMap::new();
    for shown in &all {
        let certainty = best.entry(shown.key.clone()).or_insert(shown.found.certainty);
        *certainty = shown.found.certainty.min(*certainty);
    }
    all.sort_by_cached_key(|shown| (best[&shown.key], shown.position()));
    all.dedup_by_key(|shown| shown.position());
    Ok(all)
}

/// Returns the uses with the text of their lines, and the files whose text has changed since.
fn add_lines_to_uses(
    found: &[LocatedUse],
    mut texts: AnswerTexts<'_>,
    dir: &CallerDir,
) -> RpcResult<(Vec<RefUse>, Vec<SourceKey>)> {
    let (mut uses, mut stale) = (Vec::new(), Vec::new());
    for of_file in found.chunk_by(|one, other| one.key == other.key) {
        let key = &of_file[0].key;
        let Some(lines) = texts.read_lines(key)? else {
            stale.push(key.clone());
            continue;
        };
        for LocatedUse { within, found, .. } in of_file {
            uses.push(RefUse {
                path: key.to_string(),
                cwd_path: dir.relative_path(key.as_str()),
                line: found.line,
                column: found.column,
                within: within.clone(),
                certainty: found.certainty.as_str().to_owned(),
                text: lines.line_at(found.line).chars().take(MOST_CHARS).collect(),
            });
        }
    }
    Ok((uses, stale))
}
