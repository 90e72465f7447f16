//! Answers `search`.
//!
//! Hits of the index are verified on disk, and the query is repeated if one proves stale. Memories are always current and
//! need no check. Both kinds have scores on one scale and appear in one list.

pub(super) mod query_expansion;
pub(super) mod reranking;
pub(super) mod searched_memories;
pub(super) mod verify_hits;

use std::iter::repeat;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use memod_base::paths::{CallerDir, RepoLayout};
use memod_base::types::{ChunkKind, SourceKey, UnreadableEntry};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::memory::Caller;
use memod_proto::{
    AnswerPart, FreshnessLevel, Hit, Parsed, Pending, SearchMode, SearchParams, SearchResult, rounded_score,
};
use memod_search::correction::{FEW, WorktreeVocabulary, correct_query};
use memod_search::filter::SearchFilter;
use memod_search::hits::query_expansion::add_expanded_hits;
use memod_search::hits::snippet::SnippetExtent;
use memod_search::memory_search::MemorySearchRequest;
use memod_search::memory_search::superseded::put_above_superseded;
use memod_search::query::Query;
use memod_search::ranking::rare_word::wordless_factor;
use memod_search::worktree_chunks::WorktreeChunks;
use memod_search::{self as search, SearchAnswer};

use crate::daemon::memories::calls::method_call::locate_caller;
use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::request::fresh_snapshot::{SnapshotAsk, format_clock, request_deadline, run_on_snapshot};
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::bad_params_error;
use crate::daemon::search::searched_memories::SearchedMemories;
use crate::daemon::search::verify_hits::{HitOptions, VerifiedHits, verify_hits};
use crate::daemon::shared::Shared;
use crate::daemon::status::embed_failures;

/// Most hits of one page.
const MAX_LIMIT: usize = 200;
/// Most lines before or after those that match.
const MAX_AROUND: usize = 200;
/// A search counts pending embeddings up to this many; `sync` and `status` count exactly.
const MOST_PENDING: u32 = 1_000;

/// Runs a search.
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
    let caller = Caller { cwd: params.cwd.clone(), ..Caller::default() };
    let layout = locate_caller(request, &caller).await?;
    let dir = CallerDir::new(&layout, Path::new(&params.cwd));
    let scope = SearchScope::from_params(&params, &dir)?;
    let shown = limit;
    let limit = if params.rerank { limit.max(reranking::FIRST) } else { limit };
    let memories = scope.memory_ask(&params, limit, request.shared.engine.config.search.min_cosine);
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
    put_above_superseded(&mut result.hits);
    result.hits.truncate(shown);
    for (hit, rank) in result.hits.iter_mut().zip(1..) {
        hit.rank = rank;
        if !params.explain {
            hit.score = rounded_score(hit.score);
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

/// Answers a question, with the hits of other words from a language model if it asks for them.
async fn answer_question(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
) -> RpcResult<SearchResult> {
    if !question.params.expand.unwrap_or(request.shared.engine.config.search.expand) {
        return answer_as_asked(request, question).await;
    }
    let words = query_expansion::ask_for_words(request, &question.scope.query);
    let (result, words) = tokio::join!(answer_as_asked(request, question), words);
    let mut result = result?;
    match words {
        Ok(words) => {
            if let Some(other) = question.with_words(&request.shared, &words) {
                let others = answer_as_asked(request, &Arc::new(other)).await?;
                result.total = result.total.max(others.total);
                add_expanded_hits(&mut result.hits, others.hits, question.limit);
                result.expanded = words;
            }
        }
        Err(why) => result.degraded.push(format!("expand: {why}")),
    }
    Ok(result)
}

async fn answer_as_asked(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
) -> RpcResult<SearchResult> {
    match question.scope.index {
        Some(_) => answer_from_snapshot(request, question, search_index).await,
        None => search_memories_only(request, question).await,
    }
}

/// Searches only the memories. The state of the index does not matter unless a memory that is found has anchors.
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

/// Answers from a snapshot that is as fresh as requested, and repeats if the disk is newer.
async fn answer_from_snapshot(
    request: &Arc<RequestContext>,
    question: &Arc<SearchQuestion>,
    find: fn(&RequestContext, &SearchQuestion, &Freshness) -> RpcResult<SnapshotHits>,
) -> RpcResult<SearchResult> {
    let params = &question.params;
    let asked = Arc::clone(question);
    request.caveats.note_needed_files(move |file| {
        asked.scope.index.as_ref().is_some_and(|filter| is_searched(filter, file))
    });
    let ask = SnapshotAsk {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: request_deadline(request, params.wait_ms),
        needs_commits: question.scope.index.as_ref().is_some_and(has_commits),
    };
    let asked = Arc::clone(question);
    let ((mut result, unread), why_not) =
        run_on_snapshot(request, ask, move |request, at, _| find(request, &asked, at)).await?;
    if let Some(why) = unread {
        request.caveats.note_caveat(AnswerPart::Memories, why);
    }
    if why_not.is_some() {
        result.fresh = false;
        result.reason = result.reason.or(why_not);
    }
    Ok(result)
}

/// Returns whether a file that may not be read could be a hit.
fn is_searched(filter: &SearchFilter, file: &UnreadableEntry) -> bool {
    let is_of_files = filter.kinds.iter().any(|kind| *kind != ChunkKind::Commit) || filter.kinds.is_empty();
    is_of_files && (file.is_dir || filter.admits_path(&file.path))
}

fn has_commits(filter: &SearchFilter) -> bool {
    filter.kinds.is_empty() || filter.kinds.contains(&ChunkKind::Commit)
}

/// A search with validated params.
struct SearchQuestion {
    params: SearchParams,
    layout: RepoLayout,
    scope: SearchScope,
    /// Query for the memories; `None` leaves them out.
    memories: Option<MemorySearchRequest>,
    limit: usize,
}

impl SearchQuestion {
    /// Returns the question with other words beside those of its query.
    fn with_words(&self, shared: &Shared, words: &[String]) -> Option<Self> {
        let scope = SearchScope { query: self.scope.query.with_words(words)?, ..self.scope.clone() };
        let params = SearchParams { rerank: false, ..self.params.clone() };
        let memories = scope.memory_ask(&params, self.limit, shared.engine.config.search.min_cosine);
        Some(Self { params, layout: self.layout.clone(), scope, memories, limit: self.limit })
    }

    fn hit_options(&self) -> HitOptions {
        let SearchParams { explain, rerank, .. } = self.params;
        let most_texts = if rerank { reranking::FIRST } else { 0 };
        HitOptions { explains: explain, extent: self.snippet_extent(), most_texts }
    }

    fn snippet_extent(&self) -> SnippetExtent {
        let SearchParams { full, texts, lines_before, lines_after, .. } = self.params;
        match (lines_before, lines_after) {
            _ if full => SnippetExtent::Text,
            _ if texts => SnippetExtent::BestAndText,
            (None, None) => SnippetExtent::Best,
            (before, after) => {
                SnippetExtent::Around { before: before.unwrap_or_default(), after: after.unwrap_or_default() }
            }
        }
    }
}

/// The result on one snapshot and why memories could not be searched, with the paths whose content on disk differs.
type SnapshotHits = ((SearchResult, Option<String>), Vec<SourceKey>);

/// What one snapshot of the index answers.
struct IndexAnswer {
    answer: SearchAnswer,
    /// The answer to the corrected query.
    again: Option<SearchAnswer>,
    /// Number of chunks without a vector.
    n_unembedded: u64,
    /// Why some have none.
    why_not_embedded: Option<String>,
    clock: String,
    /// Whether every file is indexed.
    is_whole: bool,
    notes: Vec<String>,
}

/// Searches a snapshot, and again with a corrected query where `n_exact` memories and the hits are few.
fn search_snapshot(
    request: &RequestContext,
    reader: &IndexReader,
    question: &SearchQuestion,
    (at, filter): (&Freshness, &SearchFilter),
    n_exact: usize,
) -> RpcResult<IndexAnswer> {
    let (shared, SearchQuestion { params, scope, limit, .. }) = (&request.shared, question);
    let embedder = shared.engine.active_model(reader);
    let chunks = shared.chunks.current_chunks(reader, at.worktree)?;
    let ask = search::SearchRequest {
        worktree: at.worktree,
        chunks: &chunks,
        query: &scope.query,
        mode: params.mode,
        filter,
        conditions: &scope.conditions,
        without: params.without.iter().copied().collect(),
        limit: *limit,
        min_cosine: shared.engine.config.search.min_cosine,
        embedder: embedder.as_deref().map_err(String::as_str),
        vectors: &shared.engine.nearest,
        row_cache: &shared.rows,
    };
    let answer = search::run_search(reader, &ask)?;
    let may_correct = params.mode != SearchMode::Vector && answer.exact_scores().count() + n_exact < FEW;
    let corrected = if may_correct { correct_words(request, reader, &ask)? } else { None };
    let again =
        corrected.map(|query| search::run_search(reader, &search::SearchRequest { query: &query, ..ask }));
    let has_vectors = params.mode != SearchMode::Keyword;
    Ok(IndexAnswer {
        answer,
        again: again.transpose()?,
        n_unembedded: reader.pending_embeddings(at.worktree, MOST_PENDING)?,
        why_not_embedded: if has_vectors { embed_failures(reader, at.worktree)? } else { None },
        clock: format_clock(reader, at)?,
        is_whole: reader.find_view(at.worktree)?.is_some_and(|row| row.complete),
        notes: list_notes(shared, scope, &chunks, at),
    })
}

/// Searches the index and, if requested, the memories.
fn search_index(
    request: &RequestContext,
    question: &SearchQuestion,
    at: &Freshness,
) -> RpcResult<SnapshotHits> {
    let (shared, SearchQuestion { params, scope, limit, .. }) = (&request.shared, question);
    let filter = scope.index.clone().unwrap_or_default();
    let mut memories = SearchedMemories::from_ask(request, question.memories.as_ref(), Some(at));
    let n_exact = memories.found.exact_scores().count();
    let read = |reader: &IndexReader| {
        reader.read_snapshot(|reader| search_snapshot(request, reader, question, (at, &filter), n_exact))
    };
    let mut found = shared.engine.read(read)?;
    if [Some(&found.answer), found.again.as_ref()].into_iter().flatten().any(|answer| answer.is_outdated) {
        found = shared.engine.read(read)?; // the snapshot was taken before the switch to another model
    }
    let IndexAnswer { mut answer, again, n_unembedded, why_not_embedded, clock, is_whole, notes } = found;
    let corrected = again.and_then(|again| memories.add_corrected(request, &mut answer, again));
    let text = (shared.engine.config.index.max_file_bytes, &shared.texts);
    let VerifiedHits { hits, texts, mut stale } =
        verify_hits(&answer, at, *limit, text, question.hit_options());
    stale.append(&mut memories.stale);
    let pending = Pending { embeddings: n_unembedded, ..at.pending };
    let mut degraded = answer.degraded;
    if params.mode != SearchMode::Keyword {
        add_knn_notes(&mut degraded, at, why_not_embedded.as_deref());
    }
    add_source_notes(&mut degraded, at, &filter);
    let unread = memories.error.take().map(|error| error.message).or(memories.unsure.take());
    degraded.extend(question.memories.iter().flat_map(|_| list_memory_notes(request)));
    // `reindex` may have emptied the index since the freshness check.
    let reason = at.reason.clone().or_else(|| (!is_whole).then(|| "the index is being rebuilt".to_owned()));
    let hits = hits.into_iter().zip(texts.into_iter().map(Some).chain(repeat(None)));
    let remembered = memories.build_hits(&at.layout, params.explain, question.snippet_extent());
    let (mut hits, texts) = merge_hits(remembered, hits, scope.query.is_one_word(), *limit);
    if params.rerank {
        let reranked = match stale.is_empty() {
            true => reranking::rerank_hits(shared, scope.query.text(), &mut hits, &texts),
            // Most likely the search runs again.
            false => Err("rerank: files changed during the search".to_owned()),
        };
        degraded.extend(reranked.err());
    }
    let result = SearchResult {
        total: answer.found.len() + memories.found.total,
        hits,
        pending,
        degraded,
        corrected,
        clock,
        fresh: at.fresh && is_whole,
        reason,
        parsed: Parsed { notes, ..Parsed::default() },
        ..SearchResult::default()
    };
    Ok(((result, unread), stale))
}

/// Adds why files are missing, and commits if the filter allows them.
fn add_source_notes(degraded: &mut Vec<String>, at: &Freshness, filter: &SearchFilter) {
    degraded.extend(at.files_note.iter().map(|why| format!("files: {why}")));
    if filter.kinds.contains(&ChunkKind::Commit) || (at.lacks_commits && has_commits(filter)) {
        degraded.extend(at.commits_note.iter().map(|why| format!("commits: {why}")));
    }
}

/// Adds why vectors are missing, unless it is there already that no model answers.
fn add_knn_notes(degraded: &mut Vec<String>, at: &Freshness, embed_failed: Option<&str>) {
    let is_told = degraded.iter().any(|why| why.starts_with("knn: "));
    let note = at.embed_note.as_deref().filter(|_| !is_told);
    degraded.extend(note.into_iter().chain(embed_failed).map(|why| format!("knn: {why}")));
}

/// Returns notes for the user: globs that match nothing, and requested commits that are not indexed.
fn list_notes(shared: &Shared, scope: &SearchScope, chunks: &WorktreeChunks, at: &Freshness) -> Vec<String> {
    let are_asked = scope.index.as_ref().is_some_and(|filter| filter.kinds.contains(&ChunkKind::Commit));
    let older = if are_asked { note_older_commits(shared, at) } else { None };
    scope.unmatched_globs(chunks).chain(older).collect()
}

/// Returns a note on the commits that the index leaves out, if there are any.
fn note_older_commits(shared: &Shared, at: &Freshness) -> Option<String> {
    let newest = match shared.engine.config.index.commits {
        0 => "no commit is indexed".to_owned(),
        n_newest => format!("only the newest {n_newest} commits are indexed"),
    };
    at.has_older_commits.then(|| format!("{newest} (index.commits), and there are older ones"))
}

/// Returns the query with its unknown words corrected, if there are any.
fn correct_words(
    request: &RequestContext,
    reader: &IndexReader,
    ask: &search::SearchRequest<'_>,
) -> Result<Option<Query>, DatabaseError> {
    let words = WorktreeVocabulary { postings: reader.read_postings()?, chunks: ask.chunks };
    correct_query(ask.query, &[&words, &request.memories()])
}

/// Lists notes on memories that may be old, or need a person.
fn list_memory_notes(request: &RequestContext) -> impl Iterator<Item = String> {
    request.memories().files_notice().into_iter().chain(request.shared.team.stale_notice())
}

/// Searches the memories; also returns whether all of their anchors were checked.
fn find_memories_only(
    request: &RequestContext,
    question: &SearchQuestion,
    layout: &RepoLayout,
    at: Option<&Freshness>,
) -> RpcResult<(SnapshotHits, bool)> {
    let mut memories = SearchedMemories::from_ask(request, question.memories.as_ref(), at);
    if let Some(error) = memories.error.take() {
        return Err(error);
    }
    let mut corrected = None;
    if question.params.mode != SearchMode::Vector && memories.found.exact_scores().count() < FEW {
        let query = correct_query(&question.scope.query, &[&request.memories()])?;
        let again = query.map(|query| SearchAnswer { query, ..SearchAnswer::default() });
        corrected =
            again.and_then(|again| memories.add_corrected(request, &mut SearchAnswer::default(), again));
        if let Some(error) = memories.error.take() {
            return Err(error);
        }
    }
    let why_not = memories.why_no_vector().map(|why| format!("knn: {why}"));
    let mut degraded: Vec<String> = why_not.into_iter().chain(list_memory_notes(request)).collect();
    let mut hits = memories.build_hits(layout, question.params.explain, question.snippet_extent());
    if question.params.rerank {
        let reranked = reranking::rerank_hits(&request.shared, question.scope.query.text(), &mut hits, &[]);
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
    Ok((((result, memories.unsure), memories.stale), memories.found.unjudged.is_empty()))
}

/// Merges two sorted lists. At equal scores the memory comes first; hits with the only word of the query come first if it is rare.
/// Returns the hits, and the text of each if it was kept.
fn merge_hits(
    memories: Vec<Hit>,
    hits: impl Iterator<Item = (Hit, Option<String>)>,
    is_one_word: bool,
    limit: usize,
) -> (Vec<Hit>, Vec<Option<String>>) {
    // A memory without the word that is ranked before one with it supersedes that one, and keeps its place.
    let n_meant = memories.iter().rposition(|hit| hit.arms.has_word()).map_or(0, |last| last + 1);
    let memories = memories.into_iter().enumerate().map(|(nth, hit)| (hit, None, nth < n_meant));
    let files = hits.map(|(hit, text)| {
        let has_word = hit.arms.has_word();
        (hit, text, has_word)
    });
    let mut all: Vec<_> = memories.chain(files).collect();
    if is_one_word
        && let Some(times) = wordless_factor(all.iter().map(|(hit, _, has_word)| (hit.score, *has_word)))
    {
        all.iter_mut().filter(|(.., has_word)| !has_word).for_each(|(hit, ..)| hit.score *= times);
    }
    all.sort_by(|(left, ..), (right, ..)| right.score.total_cmp(&left.score)); // stable
    all.truncate(limit);
    all.into_iter().map(|(hit, text, _)| (hit, text)).unzip()
}
