//! Searches a snapshot of the index, and merges its hits with those of the memories.

use std::iter::repeat;
use std::path::Path;

use memod_base::paths::CallerDir;
use memod_base::types::{ChunkKind, SourceKey};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_extract::format_name;
use memod_extract::lang::FormatGroup;
use memod_index_db::IndexReader;
use memod_proto::{Parsed, Pending, SearchMode, SearchResult};
use memod_search::correction::{
    MIN_EXACT_HITS, WorktreeVocabulary, correct_query, find_unknown_name, replace_name,
};
use memod_search::filter::SearchFilter;
use memod_search::query::Query;
use memod_search::worktree_chunks::WorktreeChunks;
use memod_search::{self as search, SearchAnswer};

use crate::daemon::definitions::similar_targets::{find_similar_names, is_unknown_member};
use crate::daemon::definitions::unindexed_files::{keep_named, list_unindexed_files};
use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::request::fresh_snapshot::format_clock;
use crate::daemon::request::path_spec::find_other_repository;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::search::merge_hits::merge_hits;
use crate::daemon::search::reranking;
use crate::daemon::search::search_question::{SearchQuestion, SnapshotHits, has_commits, list_memory_notes};
use crate::daemon::search::searched_memories::SearchedMemories;
use crate::daemon::search::verify_hits::{VerifiedHits, verify_hits};

/// Characters with which the pattern in a glob begins.
const GLOB_MARKS: [char; 4] = ['*', '?', '[', '{'];
use crate::daemon::shared::Shared;
use crate::daemon::status::describe_embed_failures;

/// A search counts pending embeddings only up to this number; `sync` and `status` count them exactly.
const MOST_PENDING: u32 = 1_000;

/// The answer of one snapshot of the index.
struct IndexAnswer {
    answer: SearchAnswer,
    /// The answer to the corrected query.
    again: Option<SearchAnswer>,
    /// Number of chunks without a vector.
    n_unembedded: u64,
    /// Why some chunks have no vector.
    why_not_embedded: Option<String>,
    /// Whether every file of the worktree is indexed.
    is_whole: bool,
    /// The answer for the nearest name.
    near: Option<SearchAnswer>,
    /// The result without hits: the clock, notes on the query, and what is said of a name that nothing has.
    result: SearchResult,
}

/// Searches a snapshot; if the exact hits there and the `n_exact` memories together are few, also searches for the corrected query.
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
        disabled_parts: params.without.iter().copied().collect(),
        limit: *limit,
        min_cosine: shared.engine.config.search.min_cosine,
        embedder: embedder.as_deref().map_err(String::as_str),
        vectors: &shared.engine.vectors,
        row_cache: &shared.rows,
    };
    let answer = search::run_search(reader, &ask)?;
    let words = WorktreeVocabulary { postings: reader.read_postings()?, chunks: &chunks };
    let unknown_name = find_unknown_name(&scope.query, &[&words, &request.memories()])?
        .filter(|name| at.fresh && !chunks.has_path_with(name));
    let is_empty = answer.found.is_empty() && n_exact == 0;
    let mut unsearched = if scope.index.is_some() && (is_empty || unknown_name.is_some()) {
        let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
        list_unindexed_files(reader, (at, &dir), |path| is_text(path) && filter.admits_path(path))?
    } else {
        Vec::new()
    };
    let similar_names = suggest_names(shared, reader, (at, &scope.query), unknown_name.as_deref())?;
    let near = similar_names.first().filter(|_| params.mode != SearchMode::Vector);
    let near = near.and_then(|name| replace_name(&scope.query, name));
    let near = near.map(|query| search::run_search(reader, &search::SearchRequest { query: &query, ..ask }));
    let may_correct =
        params.mode != SearchMode::Vector && answer.exact_scores().count() + n_exact < MIN_EXACT_HITS;
    let corrected = if may_correct { correct_words(request, reader, &ask)? } else { None };
    let again =
        corrected.map(|query| search::run_search(reader, &search::SearchRequest { query: &query, ..ask }));
    let has_vectors = params.mode != SearchMode::Keyword;
    Ok(IndexAnswer {
        answer,
        again: again.transpose()?,
        n_unembedded: reader.count_pending_embeddings(at.worktree, MOST_PENDING)?,
        why_not_embedded: if has_vectors { describe_embed_failures(reader, at.worktree)? } else { None },
        is_whole: reader.find_worktree(at.worktree)?.is_some_and(|row| row.complete),
        near: near.transpose()?,
        result: SearchResult {
            unknown_name,
            similar_names,
            n_more_unsearched: keep_named(&mut unsearched),
            unsearched,
            clock: format_clock(reader, at)?,
            parsed: Parsed { notes: list_notes(shared, scope, &chunks, at), ..Parsed::default() },
            ..SearchResult::default()
        },
    })
}

/// Searches the index and, if requested, the memories.
pub(super) fn search_index(
    request: &RequestContext,
    question: &SearchQuestion,
    at: &Freshness,
) -> RpcResult<SnapshotHits> {
    let (shared, SearchQuestion { params, scope, limit, .. }) = (&request.shared, question);
    for glob in params.path.iter().filter(|glob| !glob.starts_with('!')) {
        let path = glob.split(GLOB_MARKS).next().unwrap_or_default();
        let dir = CallerDir::new(&at.layout, Path::new(&params.cwd));
        let key = dir.resolve_path(path).map(|path| SourceKey::new(format!("{path}/")));
        if let Some(error) = key.ok().and_then(|key| find_other_repository(at, &key)) {
            return Err(error);
        }
    }
    let filter = scope.index.clone().unwrap_or_default();
    let mut memories = SearchedMemories::search_for_request(request, question.memories.as_ref(), Some(at));
    let n_exact = memories.found.exact_scores().count();
    let read = |reader: &IndexReader| {
        reader.read_snapshot(|reader| search_snapshot(request, reader, question, (at, &filter), n_exact))
    };
    let mut found = shared.engine.with_reader(read)?;
    if [Some(&found.answer), found.again.as_ref()].into_iter().flatten().any(|answer| answer.is_outdated) {
        found = shared.engine.with_reader(read)?; // that snapshot was taken before the switch to another model
    }
    let IndexAnswer { mut answer, again, n_unembedded, why_not_embedded, is_whole, near, result } = found;
    let corrected = again.and_then(|again| memories.add_corrected(request, &mut answer, again));
    let of_memories: Vec<f64> = memories.found.found.iter().map(|memory| memory.ranked.score).collect();
    if let Some(near) = near {
        answer.put_definitions_first(near, &of_memories);
    }
    answer.raise_answering_section(&of_memories);
    let text = (shared.engine.config.index.max_file_bytes, &shared.texts);
    let VerifiedHits { hits, texts, mut stale } =
        verify_hits(&answer, at, *limit, text, question.hit_options());
    stale.append(&mut memories.stale);
    let pending = Pending { embeddings: n_unembedded, ..at.pending };
    let mut degraded = std::mem::take(&mut answer.degraded);
    if params.mode != SearchMode::Keyword {
        add_knn_notes(&mut degraded, at, why_not_embedded.as_deref());
    }
    add_source_notes(&mut degraded, at, &filter);
    let unread = memories.error.take().map(|error| error.message).or(memories.unknown_states_reason.take());
    degraded.extend(question.memories.iter().flat_map(|_| list_memory_notes(request)));
    // `reindex` may have emptied the index since the freshness check.
    let reason = at.reason.clone().or_else(|| (!is_whole).then(|| "the index is being rebuilt".to_owned()));
    let hits = hits.into_iter().zip(texts.into_iter().map(Some).chain(repeat(None)));
    let remembered = memories.build_hits(&at.layout, params.explain, question.snippet_extent());
    let of_files = scope.query.is_one_word().then(|| answer.scores_with_word().collect::<Vec<_>>());
    let asked_name = scope.query.asked_name();
    let relations = asked_name.map(|name| memories.relations_to(&name));
    let beside = asked_name.as_ref().zip(relations.as_deref());
    let (mut hits, texts) = merge_hits(remembered, hits.collect(), (of_files.as_deref(), beside), *limit);
    if params.rerank {
        let reranked = match stale.is_empty() {
            true => reranking::rerank_hits(shared, scope.query.text_to_embed(), &mut hits, &texts),
            // The search most likely runs again with the changed files, so the model is not asked for this result.
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
        fresh: at.fresh && is_whole,
        reason,
        ..result
    };
    Ok(((result, unread), stale))
}

/// Returns whether a file is code or a document by its path.
fn is_text(path: &str) -> bool {
    let group = FormatGroup::from_format_name(format_name(path, ""));
    matches!(group, FormatGroup::Code | FormatGroup::Prose)
}

/// Returns the names of definitions that are nearest to the name that a query consists of, if nothing has this name, or its type
/// has no such member.
fn suggest_names(
    shared: &Shared,
    reader: &IndexReader,
    (at, query): (&Freshness, &Query),
    unknown_name: Option<&str>,
) -> Result<Vec<String>, DatabaseError> {
    let typed = unknown_name.or_else(|| query.single_name().filter(|_| at.fresh));
    match typed {
        Some(name) if unknown_name.is_some() || is_unknown_member(shared, reader, at.worktree, name)? => {
            find_similar_names(shared, reader, at.worktree, name)
        }
        _ => Ok(Vec::new()),
    }
}

/// Adds the reasons why files are missing from the index, and why commits are if the filter allows commits.
fn add_source_notes(degraded: &mut Vec<String>, at: &Freshness, filter: &SearchFilter) {
    degraded.extend(at.files_note.iter().map(|why| format!("files: {why}")));
    if filter.kinds.contains(&ChunkKind::Commit) || (at.lacks_commits && has_commits(filter)) {
        degraded.extend(at.commits_note.iter().map(|why| format!("commits: {why}")));
    }
}

/// Adds the reason why vectors are missing, unless the list already has a reason why vectors were not searched.
fn add_knn_notes(degraded: &mut Vec<String>, at: &Freshness, embed_failed: Option<&str>) {
    let is_told = degraded.iter().any(|why| why.starts_with("knn: "));
    let note = at.embed_note.as_deref().filter(|_| !is_told);
    degraded.extend(note.into_iter().chain(embed_failed).map(|why| format!("knn: {why}")));
}

/// Returns notes for the user: on globs that match nothing, and on requested commits that are not indexed.
fn list_notes(shared: &Shared, scope: &SearchScope, chunks: &WorktreeChunks, at: &Freshness) -> Vec<String> {
    let are_asked = scope.index.as_ref().is_some_and(|filter| filter.kinds.contains(&ChunkKind::Commit));
    let older = if are_asked { build_older_commits_note(shared, at) } else { None };
    scope.explain_unmatched_globs(chunks, at).chain(older).collect()
}

/// Returns a note on the commits that the index leaves out, if there are any.
fn build_older_commits_note(shared: &Shared, at: &Freshness) -> Option<String> {
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
