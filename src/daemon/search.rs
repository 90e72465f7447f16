//! Answers `search`.
//!
//! Hits of the index are verified on disk, and the search is repeated if a hit proves stale. Memories are always current and
//! need no check. Both kinds of hits have scores on one scale and appear in one list.

mod merge_hits;
pub(super) mod query_expansion;
pub(super) mod reranking;
mod search_index;
mod search_question;
pub(super) mod searched_memories;
pub(super) mod verify_hits;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use memod_base::paths::{CallerDir, RepoLayout};
use memod_base::types::{ChunkKind, UnreadableEntry};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_proto::{AnswerPart, FreshnessLevel, SearchMode, SearchParams, SearchResult, round_score};
use memod_search::SearchAnswer;
use memod_search::correction::{MIN_EXACT_HITS, correct_query};
use memod_search::filter::SearchFilter;
use memod_search::hits::query_expansion::add_expanded_hits;
use memod_search::memory_search::superseded::move_successors_up;

use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::request::fresh_snapshot::{
    SnapshotRequest, question_deadline, request_deadline, run_on_snapshot,
};
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::request::worktree_location::locate_worktree;
use crate::daemon::search::search_index::search_index;
use crate::daemon::search::search_question::{SearchQuestion, SnapshotHits, has_commits, list_memory_notes};
use crate::daemon::search::searched_memories::SearchedMemories;

/// Maximum number of hits in an answer.
const MAX_LIMIT: usize = 200;
/// Least number of memories that are searched for, so that the first hits are the same for every small limit.
const LEAST_MEMORIES: usize = 20;
/// Maximum number of lines that are shown before or after those that match.
const MAX_AROUND: usize = 200;

/// Answers `search`.
pub(super) async fn answer_search(
    request: &Arc<RequestContext>,
    params: SearchParams,
) -> RpcResult<SearchResult> {
    let started = Instant::now();
    let limit = params.limit.unwrap_or(request.shared.engine.config.search.limit as usize);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(bad_params_error(format!("limit: {limit} is not between 1 and {MAX_LIMIT}")));
    }
    if params.query.trim().is_empty() && !params.has_filters() {
        return Err(bad_params_error("query: empty")
            .with_hint("give words to search for, or only filters: then every match is listed"));
    }
    let threshold = params.threshold.unwrap_or(request.shared.engine.config.search.threshold);
    if !(0.0..=1.0).contains(&threshold) {
        return Err(bad_params_error(format!("threshold: {threshold} is not between 0 and 1")));
    }
    for (name, lines) in [("lines_before", params.lines_before), ("lines_after", params.lines_after)] {
        if let Some(lines) = lines.filter(|lines| *lines > MAX_AROUND) {
            return Err(bad_params_error(format!("{name}: {lines} is not between 0 and {MAX_AROUND}")));
        }
    }
    let layout = locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.cwd));
    let scope = SearchScope::from_params(&params, &dir)?;
    let shown = limit;
    let limit = if params.rerank { limit.max(reranking::N_RERANKED) } else { limit };
    let min_cosine = request.shared.engine.config.search.min_cosine;
    let memories = scope.build_memory_request(&params, limit.max(LEAST_MEMORIES), min_cosine);
    let question = Arc::new(SearchQuestion { params, layout, scope, memories, limit });
    request.shared.queries.fetch_add(1, Ordering::Relaxed);
    let SearchQuestion { params, .. } = &*question;
    let mut vectorless = None;
    if question.memories.is_none() {
        request.caveats.drop_caveats(AnswerPart::Memories);
    } else if params.sync == FreshnessLevel::Full {
        vectorless = request.memories().embed_all().await.err();
    }
    let mut result = answer_question(request, &question).await?;
    let had_hits = !result.hits.is_empty();
    result.hits.retain(|hit| hit.score >= threshold);
    if had_hits && result.hits.is_empty() {
        // The threshold may be a setting that the caller has forgotten.
        result.parsed.notes.push(format!("every hit scores below the threshold of {threshold}"));
    }
    move_successors_up(&mut result.hits);
    result.hits.truncate(shown);
    for (hit, rank) in result.hits.iter_mut().zip(1..) {
        hit.rank = rank;
        if !params.explain {
            hit.score = round_score(hit.score);
        }
    }
    for hit in result.hits.iter_mut().filter(|hit| hit.commit.is_none() && hit.memory.is_none()) {
        hit.cwd_path = dir.relative_path(&hit.path);
        if let Some(copies) = &mut hit.copies {
            copies.cwd_paths = copies.paths.iter().filter_map(|path| dir.relative_path(path)).collect();
        }
    }
    if let Some(error) = vectorless {
        request
            .caveats
            .note_caveat(AnswerPart::Memories, format!("not all have their vectors: {}", error.message));
    }
    let mut parsed = question.scope.query.to_parsed();
    parsed.notes.extend(question.scope.notes.iter().cloned().chain(result.parsed.notes));
    Ok(SearchResult {
        query: params.query.clone(),
        mode: params.mode,
        parsed,
        took_ms: started.elapsed().as_secs_f64() * 1_000.0,
        ..result
    })
}

/// Answers a question; if expansion is on, adds the hits of other words, which a language model names.
async fn answer_question(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
) -> RpcResult<SearchResult> {
    if !question.params.expand.unwrap_or(request.shared.engine.config.search.expand) {
        return answer_unexpanded(request, question).await;
    }
    let words = query_expansion::ask_for_words(request, &question.scope.query);
    let (result, words) = tokio::join!(answer_unexpanded(request, question), words);
    let mut result = result?;
    match words {
        Ok(words) => {
            if let Some(other) = question.with_words(&request.shared, &words) {
                let others = answer_unexpanded(request, &Arc::new(other)).await?;
                result.total = result.total.max(others.total);
                add_expanded_hits(&mut result.hits, others.hits, question.limit);
                result.expanded = words;
            }
        }
        Err(why) => result.degraded.push(format!("expand: {why}")),
    }
    Ok(result)
}

async fn answer_unexpanded(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
) -> RpcResult<SearchResult> {
    match question.scope.index {
        Some(_) => answer_from_snapshot(request, question, search_index).await,
        None => search_memories_only(request, question).await,
    }
}

/// Searches only the memories. The index is not needed unless a found memory has anchors whose states must be checked.
async fn search_memories_only(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
) -> RpcResult<SearchResult> {
    let asked = Arc::clone(question);
    let (((result, _), _), is_judged) =
        run_blocking(request, move |request| find_memories_only(request, &asked, &asked.layout, None))
            .await?;
    if is_judged {
        return Ok(result);
    }
    answer_from_snapshot(request, question, |request, question, at| {
        Ok(find_memories_only(request, question, &at.layout, Some(at))?.0)
    })
    .await
}

/// Answers from a snapshot that is as fresh as requested, and repeats the search if the disk is newer.
async fn answer_from_snapshot(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
    find: fn(&RequestContext, &SearchQuestion, &Freshness) -> RpcResult<SnapshotHits>,
) -> RpcResult<SearchResult> {
    let params = &question.params;
    let asked = Arc::clone(question);
    request.caveats.note_needed_files(move |file| {
        asked.scope.index.as_ref().is_some_and(|filter| may_be_hit(filter, file))
    });
    let ask = SnapshotRequest {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: question_deadline(request, params.wait_ms),
        needs_commits: question.scope.index.as_ref().is_some_and(has_commits),
    };
    let asked = Arc::clone(question);
    let ((mut result, unread), why_not_final) =
        run_on_snapshot(request, ask, move |request, at, _| find(request, &asked, at)).await?;
    if let Some(why) = unread {
        request.caveats.note_caveat(AnswerPart::Memories, why);
    }
    if why_not_final.is_some() {
        result.fresh = false;
        result.reason = result.reason.or(why_not_final);
    }
    Ok(result)
}

/// Returns whether a file that cannot be read could be a hit.
fn may_be_hit(filter: &SearchFilter, file: &UnreadableEntry) -> bool {
    let is_of_files = filter.kinds.iter().any(|kind| *kind != ChunkKind::Commit) || filter.kinds.is_empty();
    is_of_files && (file.is_dir || filter.admits_path(&file.path))
}

/// Searches the memories; also returns whether the anchors of all found memories were checked.
fn find_memories_only(
    request: &RequestContext,
    question: &SearchQuestion,
    layout: &RepoLayout,
    at: Option<&Freshness>,
) -> RpcResult<(SnapshotHits, bool)> {
    let mut memories = SearchedMemories::search_for_request(request, question.memories.as_ref(), at);
    if let Some(error) = memories.error.take() {
        return Err(error);
    }
    let mut corrected = None;
    if question.params.mode != SearchMode::Vector && memories.found.exact_scores().count() < MIN_EXACT_HITS {
        let query = correct_query(&question.scope.query, &[&request.memories()])?;
        let again = query.map(|query| SearchAnswer { query, ..SearchAnswer::default() });
        corrected =
            again.and_then(|again| memories.add_corrected(request, &mut SearchAnswer::default(), again));
        if let Some(error) = memories.error.take() {
            return Err(error);
        }
    }
    let why_no_knn = memories.why_no_vector().map(|why| format!("knn: {why}"));
    let mut degraded: Vec<String> = why_no_knn.into_iter().chain(list_memory_notes(request)).collect();
    let mut hits = memories.build_hits(layout, question.params.explain, question.snippet_extent());
    if question.params.rerank {
        let reranked =
            reranking::rerank_hits(&request.shared, question.scope.query.text_to_embed(), &mut hits, &[]);
        degraded.extend(reranked.err());
    }
    let result = SearchResult {
        total: memories.found.total,
        hits,
        degraded,
        corrected,
        fresh: at.is_none_or(|at| at.fresh),
        reason: at.and_then(|at| at.reason.clone()),
        ..SearchResult::default()
    };
    Ok((
        ((result, memories.unknown_states_reason), memories.stale),
        memories.found.unchecked_anchors.is_empty(),
    ))
}
