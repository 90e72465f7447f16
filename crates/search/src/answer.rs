//! Runs a search of the index: runs the arms, and ranks their candidates.

use std::collections::HashSet;

use memod_base::types::{ChunkId, ChunkKind};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_proto::SearchMode;

use super::arms::ArmRunner;
use super::query::Query;
use super::worktree_chunks::AdmittedChunks;
use crate::arms::definition_pieces;
use crate::arms::documentation_section::find_documentation_section;
use crate::arms::listing::list_chunks;
use crate::candidates::arm_signals::ArmSignals;
use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::ranked::RankedCandidate;
use crate::candidates::row_cache::CachedReader;
use crate::candidates::{MOST_CANDIDATES, list_limit};
use crate::filter::restriction::restrict_filter;
use crate::ranking::correction_factor::{apply_correction, raising_factor};
use crate::ranking::rerank;
use crate::ranking::word_similarity::set_word_similarity;
use crate::search_request::SearchRequest;

/// Number of hits for each requested hit that are extended to whole definitions. More than one, because some are not shown.
const EXTENDED_PER_HIT: usize = 2;
/// Least number of hits that are extended, so that the first hits are the same for every small number of requested hits.
const LEAST_EXTENDED: usize = 40;

/// Most definitions of the nearest name that come before the hits of a name that exists nowhere.
const MOST_NEAR_DEFINITIONS: usize = 3;

/// Last place, 1-based, of the section that answers a question of a user: it is seen at once, and two definitions come first if they
/// match better.
const PLACE_OF_SECTION: usize = 3;

/// Most other paths of a content that a hit lists.
const MAX_OTHER_PATHS: usize = 1_000;

/// Number of candidates for each requested hit that are compared with the hits to find copies.
const COMPARED_PER_HIT: usize = 4;
/// Most candidates that are compared in addition to the requested number.
const MOST_FURTHER_COMPARED: usize = 100;

/// Returns how many candidates are compared with the hits to find copies, for `limit` requested hits.
pub fn max_compared_candidates(limit: usize) -> usize {
    (COMPARED_PER_HIT * limit).min(limit + MOST_FURTHER_COMPARED)
}

/// A chunk that the search found.
#[derive(Clone, Debug)]
pub struct FoundChunk {
    /// Score, factors and rank in each arm.
    pub ranked: RankedCandidate<ChunkCandidate>,
    /// Byte span in the file.
    pub bytes: (usize, usize),
    /// blake3 of the file's bytes.
    pub hash: [u8; 32],
    /// Other admitted paths with the same content.
    pub other_paths: Vec<String>,
    /// The text of a commit, if the commit may be shown; `None` for a file, whose text is on disk.
    pub text: Option<String>,
}

/// The result of a search: all candidates, best first.
#[derive(Debug, Default)]
pub struct SearchAnswer {
    /// The candidates. There are more than requested, because some may prove stale.
    pub found: Vec<FoundChunk>,
    /// The query whose words snippets mark.
    pub query: Query,
    /// The arms that did not run, each with the reason.
    pub degraded: Vec<String>,
    /// Whether the embedding model has changed since the snapshot, so that the search must be repeated.
    pub is_outdated: bool,
    /// The section that answers the query, if the query is a question of a user.
    pub section: Option<ChunkId>,
    /// Whether the query has no words, so that `found` lists everything that passes the filters.
    pub is_list: bool,
}

impl SearchAnswer {
    /// Returns the scores of the exact hits: those with a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns the score of each candidate, and whether it has a word of the query.
    pub fn scores_with_word(&self) -> impl Iterator<Item = (f64, bool)> {
        self.found.iter().map(|hit| (hit.ranked.score, hit.is_exact()))
    }

    /// Returns whether `other` has an exact hit that this answer lacks.
    pub fn lacks_exact_hits_of(&self, other: &Self) -> bool {
        !other.exact_chunks().is_subset(&self.exact_chunks())
    }

    fn exact_chunks(&self) -> HashSet<ChunkId> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.candidate.key).collect()
    }

    /// Appends the hits of the corrected query, with their scores lowered by `factor`. Keeps the exact hits and removes the others.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64) {
        self.found.retain(FoundChunk::is_exact);
        self.query = corrected.query;
        let known: HashSet<ChunkId> = self.found.iter().map(|hit| hit.ranked.candidate.key).collect();
        for mut hit in corrected.found {
            if !known.contains(&hit.ranked.candidate.key) {
                apply_correction(&mut hit.ranked, factor);
                self.found.push(hit);
            }
        }
    }

    /// Puts the first definitions that `near`, the answer for the nearest name, has found before all other hits. `memories` are the
    /// scores of the memories that come into the same list.
    pub fn put_definitions_first(&mut self, near: Self, memories: &[f64]) {
        let defines = |hit: &FoundChunk| {
            hit.ranked.candidate.kind == ChunkKind::Symbol && hit.ranked.candidate.signals.symbol.is_some()
        };
        let mut first: Vec<FoundChunk> =
            near.found.into_iter().filter(defines).take(MOST_NEAR_DEFINITIONS).collect();
        let Some(lowest) = first.iter().map(|hit| hit.ranked.score).reduce(f64::min) else { return };
        let best =
            self.found.iter().map(|hit| hit.ranked.score).chain(memories.iter().copied()).fold(0.0, f64::max);
        let factor = raising_factor(lowest, best);
        first.iter_mut().for_each(|hit| apply_correction(&mut hit.ranked, factor));
        let known: HashSet<ChunkId> = first.iter().map(|hit| hit.ranked.candidate.key).collect();
        self.found.retain(|hit| !known.contains(&hit.ranked.candidate.key));
        self.found.splice(0..0, first);
    }

    /// Raises the section that answers the query to the last of the first places, unless a section has one of these places already.
    /// `memories` are the scores of the memories that come into the same list.
    pub fn raise_answering_section(&mut self, memories: &[f64]) {
        let place_of = |hit: &FoundChunk| Some(hit.ranked.candidate.key) == self.section;
        let Some(place) = self.found.iter().position(place_of) else { return };
        let is_section = |hit: &FoundChunk| hit.ranked.candidate.kind == ChunkKind::Doc;
        let scores = self.found.iter().map(|hit| (hit.ranked.score, is_section(hit)));
        let mut scores: Vec<_> = scores.chain(memories.iter().map(|score| (*score, false))).collect();
        scores.sort_by(|left, right| right.0.total_cmp(&left.0));
        scores.truncate(PLACE_OF_SECTION);
        let Some((bar, _)) = scores.last().filter(|_| !scores.iter().any(|(_, is_section)| *is_section))
        else {
            return;
        };
        let mut section = self.found.remove(place);
        let factor = raising_factor(section.ranked.score, *bar);
        apply_correction(&mut section.ranked, factor);
        let place = self.found.partition_point(|hit| hit.ranked.score >= section.ranked.score);
        self.found.insert(place, section);
    }
}

impl FoundChunk {
    /// Returns whether the hit has a word of the query in its text, its path or its symbol.
    fn is_exact(&self) -> bool {
        let ArmSignals { bm25, path, symbol, .. } = &self.ranked.candidate.signals;
        bm25.is_some() || path.is_some() || symbol.is_some()
    }
}

/// Runs the arms and ranks their candidates. The result depends only on the snapshot and the request.
///
/// # Errors
/// When the database cannot be read.
pub fn run_search(reader: &IndexReader, request: &SearchRequest<'_>) -> Result<SearchAnswer, DatabaseError> {
    let query = request.query;
    let filter = restrict_filter(reader, request.worktree, request.filter, query, request.conditions)?;
    let members = &request.chunks.admitted_by(&filter);
    let rows = CachedReader { reader, cache: request.row_cache };
    let mut arms = ArmRunner::new(reader, request, members, MOST_CANDIDATES);
    if request.mode != SearchMode::Vector {
        arms.run_symbol_arm()?;
        arms.run_word_arms()?;
    }
    if request.mode != SearchMode::Keyword {
        arms.run_vector_arm()?;
    }
    let ArmRunner { mut pool, idf_of_words, degraded, is_outdated, .. } = arms;
    let lists = query.is_listing() && pool.is_empty();
    if lists {
        list_chunks(reader, request.worktree, members, list_limit(request.limit))?
            .into_iter()
            .for_each(|chunk| pool.add_unranked(chunk));
    }
    let mut candidates = pool.into_candidates(rows, members, query)?;
    // The weights of the comparison by words were fitted together with vectors, so without vectors words are not compared. Neither
    // are they for a query of one word.
    let has_vectors = candidates.iter().any(|candidate| candidate.signals.cosine.is_some());
    if request.mode == SearchMode::Hybrid && has_vectors && query.wanted_texts().len() > 1 {
        set_word_similarity(rows, query, &idf_of_words, &mut candidates)?;
    }
    let mut ranked = if lists {
        RankedCandidate::unranked(candidates)
    } else {
        rerank::rank_chunks(query, filter.wanted_classes(), request.disabled_parts, candidates)
    };
    let section = match query.asks_for_documentation() {
        true => find_documentation_section(reader, query, &idf_of_words, &ranked)?,
        false => None,
    };
    let n_extended = (EXTENDED_PER_HIT * request.limit).max(LEAST_EXTENDED);
    for hit in ranked.iter_mut().take(n_extended) {
        let content = members.worktree.content_at(hit.candidate.content);
        definition_pieces::extend_to_definition(rows, content, &mut hit.candidate)?;
    }
    let n_shown = max_compared_candidates(request.limit).max(n_extended);
    let mut found: Vec<FoundChunk> = ranked
        .into_iter()
        .enumerate()
        .map(|(nth, ranked)| build_found_chunk(members, ranked, nth < n_shown))
        .collect();
    read_commit_texts(reader, &mut found, request.limit)?;
    Ok(SearchAnswer { found, query: query.clone(), degraded, is_outdated, section, is_list: lists })
}

/// Reads the texts of the first `limit` commits, and of the first `limit` commits with a word of the query. No others can be shown,
/// because a corrected query keeps only the hits with a word.
fn read_commit_texts(
    reader: &IndexReader,
    found: &mut [FoundChunk],
    limit: usize,
) -> Result<(), DatabaseError> {
    let (mut n_commits, mut n_exact) = (0, 0);
    for hit in found.iter_mut().filter(|hit| hit.ranked.candidate.kind == ChunkKind::Commit) {
        let is_exact = hit.is_exact();
        if n_commits < limit || is_exact && n_exact < limit {
            hit.text = reader.find_own_text(hit.ranked.candidate.key)?;
        }
        (n_commits, n_exact) = (n_commits + 1, n_exact + usize::from(is_exact));
    }
    Ok(())
}

/// Returns the hit of a ranked candidate. Lists the other paths only if the hit may be shown.
fn build_found_chunk(
    members: &AdmittedChunks<'_>,
    ranked: RankedCandidate<ChunkCandidate>,
    is_shown: bool,
) -> FoundChunk {
    let ChunkCandidate { content, bytes, .. } = ranked.candidate;
    let path = &ranked.candidate.path;
    let others = members.paths_of(content).filter(|other| other != path).map(str::to_owned);
    let other_paths = others.take(if is_shown { MAX_OTHER_PATHS } else { 0 }).collect();
    FoundChunk { bytes, other_paths, hash: members.worktree.content_at(content).hash, text: None, ranked }
}
