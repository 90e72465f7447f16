//! Answers a search of the index: runs the arms, and ranks their candidates.

use std::collections::HashSet;

use memod_base::types::{ChunkId, ChunkKind};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;
use memod_proto::SearchMode;

use super::arms::ArmRunner;
use super::query::Query;
use super::worktree_chunks::AdmittedChunks;
use crate::arms::definition_pieces;
use crate::arms::listing::list_chunks;
use crate::candidates::arm_signals::ArmSignals;
use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::ranked::RankedCandidate;
use crate::candidates::row_cache::CachedReader;
use crate::filter::restriction::restrict_filter;
use crate::ranking::correction_factor::lower_corrected;
use crate::ranking::rerank;
use crate::ranking::word_similarity::compare_words;
use crate::search_request::SearchRequest;

/// Number of hits for each wanted hit that are extended to their whole definitions, because some may not be shown.
const MOST_EXTENDED: usize = 2;

/// Most copies of a file that are counted.
const MOST_COPIES: usize = 1_000;

/// Number of candidates for each wanted hit that are compared with the hits, to find copies.
const MOST_COMPARED: usize = 4;
/// Most candidates that are compared beyond the wanted number.
const MOST_FURTHER_COMPARED: usize = 100;

/// Returns the number of candidates that are compared with the hits once all wanted hits are found.
pub fn max_compared_candidates(limit: usize) -> usize {
    (MOST_COMPARED * limit).min(limit + MOST_FURTHER_COMPARED)
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
    /// Other paths with the same content.
    pub other_paths: Vec<String>,
    /// The text of a commit that may be shown; the text of a file is on disk.
    pub text: Option<String>,
}

/// The result of a search: all candidates, best first.
#[derive(Debug, Default)]
pub struct SearchAnswer {
    /// More than requested, because some may prove stale.
    pub found: Vec<FoundChunk>,
    /// The words of the query, for snippets.
    pub query: Query,
    /// Arms that did not run, and why.
    pub degraded: Vec<String>,
    /// Whether the embedding model has changed since the snapshot: the query must be repeated.
    pub is_outdated: bool,
    /// Whether the query has no words, so that everything that passes the filters is listed.
    pub is_list: bool,
}

impl SearchAnswer {
    /// Returns the scores of hits that have a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns whether the other answer has an exact hit that is no exact hit of this answer.
    pub fn lacks_exact_hits_of(&self, other: &Self) -> bool {
        !other.exact_chunks().is_subset(&self.exact_chunks())
    }

    fn exact_chunks(&self) -> HashSet<ChunkId> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.candidate.key).collect()
    }

    /// Adds the hits of the corrected query below the exact hits, and replaces the hits that are only near.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64) {
        self.found.retain(FoundChunk::is_exact);
        self.query = corrected.query;
        let known: HashSet<ChunkId> = self.found.iter().map(|hit| hit.ranked.candidate.key).collect();
        for mut hit in corrected.found {
            if !known.contains(&hit.ranked.candidate.key) {
                lower_corrected(&mut hit.ranked, factor);
                self.found.push(hit);
            }
        }
    }
}

impl FoundChunk {
    fn is_exact(&self) -> bool {
        let ArmSignals { bm25, path, symbol, .. } = &self.ranked.candidate.signals;
        bm25.is_some() || path.is_some() || symbol.is_some()
    }
}

/// Runs the arms and ranks their candidates. The result is determined by the snapshot and the query.
///
/// # Errors
/// When the database cannot be read.
pub fn run_search(reader: &IndexReader, request: &SearchRequest<'_>) -> Result<SearchAnswer, DatabaseError> {
    let query = request.query;
    let filter = restrict_filter(reader, request.worktree, request.filter, query, request.conditions)?;
    let members = &request.chunks.admitted_by(&filter);
    let rows = CachedReader { reader, cache: request.row_cache };
    let k = crate::candidates::candidate_limit(request.limit);
    let mut arms = ArmRunner::new(reader, request, members, k);
    if request.mode != SearchMode::Vector {
        arms.add_names()?;
        arms.add_words()?;
    }
    if request.mode != SearchMode::Keyword {
        arms.add_nearest()?;
    }
    let ArmRunner { mut pool, idf_of_words, degraded, is_outdated, .. } = arms;
    let lists = query.is_listing() && pool.is_empty();
    if lists {
        list_chunks(reader, request.worktree, members, k)?
            .into_iter()
            .for_each(|chunk| pool.add_unranked(chunk));
    }
    let mut candidates = pool.into_candidates(rows, members, query)?;
    // The weights of a comparison by words were fitted together with vectors. Without vectors, and for names, the other signals rank.
    let has_vectors = candidates.iter().any(|candidate| candidate.signals.cosine.is_some());
    if request.mode == SearchMode::Hybrid && has_vectors && query.wanted_texts().len() > 1 {
        compare_words(rows, query, &idf_of_words, &mut candidates)?;
    }
    let mut ranked = if lists {
        RankedCandidate::unranked(candidates)
    } else {
        rerank::rank_chunks(query, filter.wanted_classes(), request.without, candidates)
    };
    for hit in ranked.iter_mut().take(MOST_EXTENDED * request.limit) {
        let content = members.worktree.content_at(hit.candidate.content);
        definition_pieces::extend_to_definition(rows, content, &mut hit.candidate)?;
    }
    let n_shown = max_compared_candidates(request.limit).max(MOST_EXTENDED * request.limit);
    let mut found: Vec<FoundChunk> = ranked
        .into_iter()
        .enumerate()
        .map(|(nth, ranked)| build_found_chunk(members, ranked, nth < n_shown))
        .collect();
    add_texts(reader, &mut found, request.limit)?;
    Ok(SearchAnswer { found, query: query.clone(), degraded, is_outdated, is_list: lists })
}

/// Adds the texts of the first commits, and of the first commits with a word of the query. Only these can be shown: a
/// corrected query keeps the hits with a word and replaces the others.
fn add_texts(reader: &IndexReader, found: &mut [FoundChunk], limit: usize) -> Result<(), DatabaseError> {
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

fn build_found_chunk(
    members: &AdmittedChunks<'_>,
    ranked: RankedCandidate<ChunkCandidate>,
    is_shown: bool,
) -> FoundChunk {
    let ChunkCandidate { content, bytes, .. } = ranked.candidate;
    let path = &ranked.candidate.path;
    let others = members.paths_of(content).filter(|other| other != path).map(str::to_owned);
    let other_paths = others.take(if is_shown { MOST_COPIES } else { 0 }).collect();
    FoundChunk { bytes, other_paths, hash: members.worktree.content_at(content).hash, text: None, ranked }
}
