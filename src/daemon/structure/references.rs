//! Answers what uses a definition, what it calls, and what depends on it, and how sure that is.

mod answer;
mod changed_definitions;
mod companions;
mod follow;
mod joined;
mod likeness;
mod method_sets;
mod similar_tests;
mod targets;
mod test_order;
mod texts;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memod_base::paths::CallerDir;
use memod_base::types::SourceKey;
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_proto::{ReachParams, ReachResult, RefCounts, RefUse, RefsParams, RefsResult, Sync};
use memod_structure::resolve::{Candidate, Certainty, Structures as _};

use crate::daemon::request::error::bad_params;
use crate::daemon::request::{SnapshotAsk, deadline, on_snapshot};
use crate::daemon::shared::Shared;
pub(in crate::daemon) use answer::Question;
use changed_definitions::{Changes, changes};
use companions::companions;
use joined::{Found, Joined};
use memod_database::DatabaseError;
use memod_index_db::Reader;
use targets::{WholeFiles, targets};
use texts::{MOST_CHARS, Texts, entries};

/// Uses in a result when the caller names no number.
const LIMIT: usize = 100;
/// Time for following uses; what is found until then is the answer.
const BUDGET: Duration = Duration::from_secs(8);
/// How often an answer about changes is made again.
const RERUNS: usize = 3;

/// Answers `refs`.
pub(in crate::daemon) async fn refs(shared: &Arc<Shared>, params: RefsParams) -> RpcResult<RefsResult> {
    let began = Instant::now();
    let ask = ask(shared, &params.cwd, params.sync, params.wait_ms);
    let (cwd, with, until) = (params.cwd.clone(), params.with.clone(), ask.deadline);
    let look = move |shared: &Shared, at: &Freshness, _: bool| refs_at(shared, &params, at);
    let (mut result, why_not) = on_snapshot(shared, ask, look).await?;
    let defined = result.definitions.iter().map(|defined| (defined.path.clone(), vec![defined.lines]));
    let places = defined.chain(result.uses.iter().map(|of| (of.path.clone(), vec![(of.line, of.line)])));
    let beside = companions(shared, &cwd, &with, places.collect(), until).await?;
    (result.memories, result.commits) = (beside.memories, beside.commits);
    result.cut = result.cut.or(beside.cut);
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// Answers `callers`, `callees`, `impact`, `tests` and `implements`.
pub(in crate::daemon) async fn reach(
    shared: &Arc<Shared>,
    question: Question,
    params: ReachParams,
) -> RpcResult<ReachResult> {
    let began = Instant::now();
    if params.since.is_some() && !question.is_of_changes() {
        return Err(bad_params("since: only `impact` and `tests` take a revision".to_owned()));
    }
    let mut result = match (&params.since, &params.target) {
        (Some(_), Some(_)) => {
            let hint = "leave one of them out";
            return Err(bad_params("a target and a revision together".to_owned()).with_hint(hint));
        }
        (None, None) if !question.is_of_changes() => {
            let hint = "PATH, PATH#SYMBOL, PATH:LINE or a name";
            return Err(bad_params("target: missing".to_owned()).with_hint(hint));
        }
        (None, Some(_)) => reach_at(shared, question, &params, None).await?.0,
        (_, None) => reach_changed(shared, question, &params).await?,
    };
    let until = deadline(shared, params.wait_ms);
    let defined = result.definitions.iter().map(|defined| (defined.path.clone(), vec![defined.lines]));
    let places = defined.chain(result.found.iter().map(|found| (found.path.clone(), vec![found.lines])));
    let added = companions(shared, &params.cwd, &params.with, places.collect(), until).await?;
    (result.memories, result.commits) = (added.memories, added.commits);
    result.cut = result.cut.or(added.cut);
    result.took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    Ok(result)
}

/// Answers a question about what has changed since a revision. Changes and answer are of two snapshots, so both are made again if a
/// changed definition is gone by then.
async fn reach_changed(
    shared: &Arc<Shared>,
    question: Question,
    params: &ReachParams,
) -> RpcResult<ReachResult> {
    let mut n_left = RERUNS;
    loop {
        let changes = Arc::new(changes(shared, params).await?);
        let (mut result, n_gone) = reach_at(shared, question, params, Some(Arc::clone(&changes))).await?;
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

/// Answers a question from one snapshot; also returns how many changed definitions are not there.
async fn reach_at(
    shared: &Arc<Shared>,
    question: Question,
    params: &ReachParams,
    changes: Option<Arc<Changes>>,
) -> RpcResult<(ReachResult, usize)> {
    let ask = ask(shared, &params.cwd, params.sync, params.wait_ms);
    let params = params.clone();
    let look = move |shared: &Shared, at: &Freshness, _: bool| {
        answer::answer(shared, (question, &params), changes.as_deref(), at)
    };
    let ((mut result, n_gone), why_not) = on_snapshot(shared, ask, look).await?;
    result.fresh &= why_not.is_none();
    result.reason = result.reason.or(why_not);
    Ok((result, n_gone))
}

fn ask(shared: &Shared, cwd: &str, level: Sync, wait_ms: Option<u64>) -> SnapshotAsk {
    SnapshotAsk { cwd: cwd.to_owned(), level, deadline: deadline(shared, wait_ms), needs_commits: false }
}

/// A use with its file and the title of the definition around it.
struct Shown {
    key: SourceKey,
    within: Option<String>,
    found: Found,
}

fn refs_at(shared: &Shared, params: &RefsParams, at: &Freshness) -> RpcResult<(RefsResult, Vec<SourceKey>)> {
    let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
    let until = Instant::now() + BUDGET;
    let read = |reader: &Reader| -> RpcResult<_> {
        let joined = Joined::new((shared, reader), (at.view, &at.layout.root), [], until)?;
        let target = (params.target.as_str(), params.cwd.as_str());
        let targets = targets((shared, reader), &joined, at, target, WholeFiles::Refused)?;
        let mut found = uses(&joined, &targets.declared)?;
        let counts = counts(&found);
        found.truncate(params.limit.unwrap_or(LIMIT));
        let entries = entries(reader, at, found.iter().map(|shown| shown.key.clone()))?;
        Ok((targets, counts, found, entries, joined.cut()))
    };
    let read = shared.engine.read(|reader: &Reader| reader.snapshot(read));
    let (targets, counts, found, entries, cut) = read?;
    let (uses, stale) = with_lines(&found, Texts::new((shared, at), &dir, entries), &dir)?;
    let result = RefsResult {
        definitions: targets.shown(&dir),
        uses,
        counts,
        cut: cut.map(str::to_owned).or_else(|| targets.unknown_language()),
        memories: Vec::new(),
        commits: Vec::new(),
        fresh: at.fresh,
        reason: at.reason.clone(),
        trust: "repo".to_owned(),
        took_ms: 0.0,
    };
    Ok((result, stale))
}

fn counts(found: &[Shown]) -> RefCounts {
    let count = |certainty| found.iter().filter(|shown| shown.found.certainty == certainty).count();
    RefCounts {
        exact: count(Certainty::Exact),
        likely: count(Certainty::Likely),
        by_name: count(Certainty::ByName),
    }
}

/// Returns the uses of definitions: the files with the surest uses first, in a file by line.
fn uses(joined: &Joined<'_>, wanted: &[Candidate]) -> Result<Vec<Shown>, DatabaseError> {
    let names_of =
        |candidate: &Candidate| joined.of(candidate.file).declared[candidate.declared as usize].names.clone();
    let names: BTreeSet<String> = wanted
        .iter()
        .flat_map(|own| names_of(own).split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut all = Vec::new();
    for name in names {
        all.extend(joined.uses_of(&name, wanted)?.into_iter().map(|found| {
            let structure = joined.of(found.within.file);
            let within = found.within.declared.and_then(|id| structure.declared.get(id as usize));
            let within = within.map(|within| within.title.clone());
            Shown { key: joined.key(found.within.file), within, found }
        }));
    }
    let mut best: HashMap<SourceKey, Certainty> = HashMap::new();
    for shown in &all {
        let certainty = best.entry(shown.key.clone()).or_insert(shown.found.certainty);
        *certainty = shown.found.certainty.min(*certainty);
    }
    let place = |shown: &Shown| (shown.key.clone(), shown.found.line, shown.found.column);
    all.sort_by_cached_key(|shown| (best[&shown.key], place(shown)));
    all.dedup_by_key(|shown| place(shown));
    Ok(all)
}

/// Returns the uses with their lines, and the files whose text is another one by now.
fn with_lines(
    found: &[Shown],
    mut texts: Texts<'_>,
    dir: &CallerDir,
) -> RpcResult<(Vec<RefUse>, Vec<SourceKey>)> {
    let (mut uses, mut stale) = (Vec::new(), Vec::new());
    for of_file in found.chunk_by(|one, other| one.key == other.key) {
        let key = &of_file[0].key;
        let Some(lines) = texts.of(key)? else {
            stale.push(key.clone());
            continue;
        };
        for Shown { within, found, .. } in of_file {
            uses.push(RefUse {
                path: key.to_string(),
                cwd_path: dir.shown(key.as_str()),
                line: found.line,
                column: found.column,
                within: within.clone(),
                certainty: found.certainty.as_str().to_owned(),
                text: lines.line(found.line).chars().take(MOST_CHARS).collect(),
            });
        }
    }
    Ok((uses, stale))
}
