//! Answers `search`.
//!
//! Hits of the index are verified on disk, and the query is repeated if one proves stale. Memories are always current and
//! need no check. Both kinds have scores on one scale and appear in one list.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::anchors::judge_all;
use super::error::{RpcResult, bad_params};
use super::event::Freshness;
use super::memories::hits as memories;
use super::memories::transaction::locate;
use super::request::{SnapshotAsk, blocking, clock, deadline, on_snapshot};
use super::shared::Shared;
use super::status::embed_failed;
use super::verify::{Verified, verify};
use crate::extract::lang;
use crate::paths::RepoLayout;
use crate::proto::memory::Caller;
use crate::proto::{Hit, Mode, Pending, RpcError, SearchParams, SearchResult, Sync};
use crate::search;
use crate::search::memory_search::{FoundMemories, MemoryAsk};
use crate::store::{Filter, Reader};
use crate::types::{Kind, SourceKey};

/// Most hits of one page.
const MAX_LIMIT: usize = 200;
/// Maximum total length of the globs of a request, bytes: they are compiled before anything else.
const MOST_GLOB_BYTES: usize = 16 << 10;
/// A search counts pending embeddings up to this many; `sync` and `status` count exactly.
const MOST_PENDING: u32 = 1_000;

/// Runs a search.
pub(super) async fn search(shared: &Arc<Shared>, params: SearchParams) -> RpcResult<SearchResult> {
    let started = Instant::now();
    let limit = params.limit.unwrap_or(shared.config.search.limit as usize);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(bad_params(format!("limit: {limit} is not between 1 and {MAX_LIMIT}")));
    }
    if params.query.trim().is_empty() {
        return Err(bad_params("query: empty; say what to look for"));
    }
    let threshold = params.threshold.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&threshold) {
        return Err(bad_params(format!("threshold: {threshold} is not between 0 and 1")));
    }
    let memories = memories::wanted(&params, limit)?;
    let index = filter(&params)?;
    let question = Arc::new(Question { params, index, memories, limit });
    shared.queries.fetch_add(1, Ordering::Relaxed);
    let Question { params, .. } = &*question;
    let mut vectorless = None;
    if question.memories.is_some() && params.sync == Sync::Full {
        vectorless = shared.memories.complete().await.err();
    }
    let mut result = match question.index {
        Some(_) => page(shared, &question, find).await?,
        None => alone(shared, &question).await?,
    };
    result.hits.retain(|hit| hit.score >= threshold);
    if let Some(error) = vectorless {
        let why = format!("memories: not all have their vectors: {}", error.message);
        result.fresh = false;
        result.reason.get_or_insert_with(|| why.clone());
        result.degraded.push(why);
    }
    Ok(SearchResult {
        query: params.query.clone(),
        mode: params.mode,
        took_ms: started.elapsed().as_secs_f64() * 1_000.0,
        ..result
    })
}

/// Returns the filter for the index; `None` if only memories are requested.
fn filter(params: &SearchParams) -> RpcResult<Option<Filter>> {
    let langs = params.lang.iter().map(|word| lang_of(word)).collect::<Result<_, _>>()?;
    let kinds: Vec<Kind> = params.kind.iter().copied().filter(|kind| *kind != Kind::Memory).collect();
    let are_memories_alone =
        kinds.is_empty() && !params.kind.is_empty() || memories::is_about_memories(params);
    let filter = Filter { kinds, langs, paths: params.path.clone() };
    let glob_bytes: usize = params.path.iter().map(String::len).sum();
    if glob_bytes > MOST_GLOB_BYTES {
        return Err(bad_params(format!("path: {glob_bytes} bytes of globs, over {MOST_GLOB_BYTES}")));
    }
    filter.check().map_err(|error| bad_params(format!("path: {error}")))?;
    Ok((!are_memories_alone).then_some(filter))
}

/// Searches only the memories. The state of the index does not matter unless a memory that is found has anchors.
async fn alone(shared: &Arc<Shared>, question: &Arc<Question>) -> RpcResult<SearchResult> {
    let caller = Caller { cwd: question.params.cwd.clone(), ..Caller::default() };
    let layout = locate(shared, &caller).await?;
    let asked = Arc::clone(question);
    let ((result, _), is_judged) =
        blocking(shared, move |shared| memories_alone(shared, &asked, &layout, None)).await?;
    if is_judged {
        return Ok(result);
    }
    page(shared, question, |shared, question, at| {
        Ok(memories_alone(shared, question, &at.layout, Some(at))?.0)
    })
    .await
}

/// Answers from a snapshot that is as fresh as requested, and repeats if the disk is newer.
async fn page(
    shared: &Arc<Shared>,
    question: &Arc<Question>,
    find: fn(&Shared, &Question, &Freshness) -> RpcResult<Page>,
) -> RpcResult<SearchResult> {
    let params = &question.params;
    let ask = SnapshotAsk {
        cwd: params.cwd.clone(),
        level: params.sync,
        deadline: deadline(shared, params.wait_ms),
        needs_commits: params.kind.is_empty() || params.kind.contains(&Kind::Commit),
    };
    let asked = Arc::clone(question);
    let (mut result, why_not) =
        on_snapshot(shared, ask, move |shared, at, _| find(shared, &asked, at)).await?;
    if why_not.is_some() {
        result.fresh = false;
        result.reason = result.reason.or(why_not);
    }
    Ok(result)
}

/// A search with validated params.
struct Question {
    params: SearchParams,
    /// Filter for the index; `None` leaves it out.
    index: Option<Filter>,
    /// Query for the memories; `None` leaves them out.
    memories: Option<MemoryAsk>,
    limit: usize,
}

/// The result on one snapshot, with the paths whose content on disk differs.
type Page = (SearchResult, Vec<SourceKey>);

/// Searches the index and, if requested, the memories.
fn find(shared: &Shared, question: &Question, at: &Freshness) -> RpcResult<Page> {
    let Question { params, index, limit, .. } = question;
    let filter = index.clone().unwrap_or_default();
    let mut memories = Remembered::of(shared, question, Some(at));
    let ask = search::Ask {
        view: at.view,
        query: &params.query,
        mode: params.mode,
        filter: &filter,
        limit: *limit,
        embedder: shared.embedder(),
        nearest: &shared.nearest,
        corrects: !memories.has_words(),
    };
    let read = |reader: &Reader| -> RpcResult<_> {
        reader.snapshot(|reader| {
            let answer = search::run(reader, &ask)?;
            let embeddings = reader.pending_embeddings(at.view, MOST_PENDING)?;
            let is_whole = reader.view(at.view)?.is_some_and(|row| row.complete);
            let failed = if params.mode == Mode::Keyword { None } else { embed_failed(reader, at.view)? };
            Ok((answer, embeddings, failed, clock(reader, at)?, is_whole))
        })
    };
    let (answer, embeddings, embed_failed, clock, is_whole) = shared.read(read)?;
    let max_file_bytes = shared.config.index.max_file_bytes;
    let Verified { hits, mut stale } = verify(&answer, at, *limit, max_file_bytes, params.explain);
    if let Some(text) = &answer.corrected {
        memories.ask_again(shared, text);
    }
    stale.append(&mut memories.stale);
    let pending = Pending { embeddings, ..at.pending };
    let mut degraded = answer.degraded;
    if params.mode != Mode::Keyword {
        // Why there is no model is among them already.
        let note = at.embed_note.iter().filter(|_| ask.embedder.is_ok());
        degraded.extend(note.chain(&embed_failed).map(|why| format!("knn: {why}")));
    }
    degraded.extend(at.files_note.iter().map(|why| format!("files: {why}")));
    if filter.kinds.contains(&Kind::Commit) {
        degraded.extend(at.commits_note.iter().map(|why| format!("commits: {why}")));
    }
    degraded.extend(memories.error.take().map(|error| format!("memories: {}", error.message)));
    // `reindex` may have emptied the index since the freshness check.
    let reason = at.reason.clone().or_else(|| (!is_whole).then(|| "the index is being rebuilt".to_owned()));
    let result = SearchResult {
        total: answer.found.len() + memories.found.total,
        hits: merged(memories.hits(&at.layout, params.explain), hits, *limit),
        pending,
        degraded,
        corrected: answer.corrected,
        clock,
        fresh: at.fresh && is_whole,
        reason,
        ..SearchResult::default()
    };
    Ok((result, stale))
}

/// Searches the memories; also returns whether all of their anchors were checked.
fn memories_alone(
    shared: &Shared,
    question: &Question,
    layout: &RepoLayout,
    at: Option<&Freshness>,
) -> RpcResult<(Page, bool)> {
    let mut memories = Remembered::of(shared, question, at);
    if let Some(error) = memories.error.take() {
        return Err(error);
    }
    let why_not = shared.embedder().err().filter(|_| question.params.mode != Mode::Keyword);
    let result = SearchResult {
        total: memories.found.total,
        hits: memories.hits(layout, question.params.explain),
        degraded: why_not.map(|why| format!("knn: {why}")).into_iter().collect(),
        fresh: at.is_none_or(|at| at.fresh),
        reason: at.and_then(|at| at.reason.clone()),
        ..SearchResult::default()
    };
    Ok(((result, memories.stale), memories.found.unjudged.is_empty()))
}

/// The result of searching the memories.
#[derive(Default)]
struct Remembered<'a> {
    wanted: MemoryAsk,
    found: FoundMemories,
    error: Option<RpcError>,
    /// The view that anchors are checked against; `None` if they are not checked.
    at: Option<&'a Freshness>,
    /// Paths whose content on disk differs from the snapshot.
    stale: Vec<SourceKey>,
}

impl<'a> Remembered<'a> {
    fn of(shared: &Shared, question: &Question, at: Option<&'a Freshness>) -> Self {
        let Some(mut wanted) = question.memories.clone() else { return Self::default() };
        if wanted.mode != Mode::Keyword {
            wanted.embed(&question.params.query, shared.embedder());
        }
        let mut memories = Self { wanted, at, ..Self::default() };
        memories.ask(shared);
        memories
    }

    fn ask(&mut self, shared: &Shared) {
        if let Err(error) = self.try_ask(shared) {
            self.error = Some(error);
        }
    }

    /// Searches again once the states of anchors are known, because they lower the rank of memories.
    fn try_ask(&mut self, shared: &Shared) -> RpcResult<()> {
        self.found = shared.memories.find(&self.wanted)?;
        let Some(at) = self.at.filter(|_| !self.found.unjudged.is_empty()) else { return Ok(()) };
        let unjudged = std::mem::take(&mut self.found.unjudged);
        let judged = judge_all(shared, at, unjudged)?;
        self.wanted.judged.extend(judged.value);
        self.stale.extend(judged.stale);
        self.found = shared.memories.find(&self.wanted)?;
        Ok(())
    }

    /// The corrected query, if the query as typed found nothing.
    fn ask_again(&mut self, shared: &Shared, text: &str) {
        if self.wanted.limit > 0 {
            self.wanted = self.wanted.with_query(text);
            self.wanted.embed(text, shared.embedder());
            self.ask(shared);
        }
    }

    fn has_words(&self) -> bool {
        self.found.found.iter().any(|hit| hit.ranked.candidate.signals.bm25.is_some())
    }

    fn hits(&self, layout: &RepoLayout, explains: bool) -> Vec<Hit> {
        let root = layout.root.display().to_string();
        self.found.found.iter().map(|found| memories::hit(found, &self.wanted, &root, explains)).collect()
    }
}

/// Merges two sorted lists; at equal scores the memory comes first.
fn merged(memories: Vec<Hit>, hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    let mut all = memories;
    all.extend(hits);
    all.sort_by(|left, right| right.score.total_cmp(&left.score)); // stable
    all.truncate(limit);
    all
}

/// Returns the format with the name of a `--lang` word.
fn lang_of(word: &str) -> RpcResult<String> {
    let known = || format!("lang: {word} is none of {}", lang::names().join(", "));
    lang::canonical(word).map(str::to_owned).ok_or_else(|| bad_params(known()))
}
