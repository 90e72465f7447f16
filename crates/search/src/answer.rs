//! Answers a search of the index: runs the arms, and ranks their candidates.

use std::collections::HashSet;

use memod_base::types::{ChunkId, Kind, RankingParts, ViewId};
use memod_database::DatabaseError;
use memod_embed::Embedder;
use memod_index_db::Reader;
use memod_proto::Mode;

use super::arms::Arms;
use super::correction::lower;
use super::definition_pieces;
use super::filter::Filter;
use super::fuse::Signals;
use super::kept_rows::KeptRows;
use super::listing::list;
use super::query::Query;
use super::ranked::Ranked;
use super::rerank::{self, Candidate};
use super::restriction::{Conditions, restricted};
use super::view_chunks::{Members, ViewChunks};
use super::word_similarity::compare_words;
use memod_vectors::shared_vectors::SharedVectors;

/// Number of hits for each wanted one that are extended to their whole definitions, because some may not be shown.
const MOST_EXTENDED: usize = 2;

/// Most copies of a file that are counted.
const MOST_COPIES: usize = 1_000;

/// Number of candidates for each wanted hit that are looked at for copies of what is shown.
const MOST_LOOKED_AT: usize = 4;
/// Most of them beyond the wanted number.
const MOST_FURTHER: usize = 100;

/// Returns how many candidates are looked at for copies of hits when all wanted ones are found.
pub fn most_looked_at(limit: usize) -> usize {
    (MOST_LOOKED_AT * limit).min(limit + MOST_FURTHER)
}

/// A search of the index.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The worktree.
    pub view: ViewId,
    /// Its chunks in the snapshot of the reader.
    pub chunks: &'a ViewChunks,
    /// The parsed query.
    pub query: &'a Query,
    /// Which arms answer.
    pub mode: Mode,
    /// Filter.
    pub filter: &'a Filter,
    /// Conditions beyond the filter.
    pub conditions: &'a Conditions,
    /// Parts of the ranking that have no effect.
    pub without: RankingParts,
    /// Hits wanted.
    pub limit: usize,
    /// Lowest cosine of a chunk that is found by its vector; never below that of noise.
    pub min_cosine: f64,
    /// The model, or the error.
    pub embedder: Result<&'a dyn Embedder, &'a str>,
    /// All vectors.
    pub nearest: &'a SharedVectors,
    /// What was read before.
    pub kept: &'a KeptRows,
}

/// A hit.
#[derive(Clone, Debug)]
pub struct Found {
    /// Score, factors and rank in each arm.
    pub ranked: Ranked<Candidate>,
    /// Byte span in the file.
    pub bytes: (usize, usize),
    /// blake3 of the file's bytes.
    pub hash: [u8; 32],
    /// Other paths with the same content.
    pub other_paths: Vec<String>,
    /// The text of a commit that may be shown; that of a file is on disk.
    pub text: Option<String>,
}

/// All candidates, best first.
#[derive(Debug, Default)]
pub struct Answer {
    /// More than requested, because some may prove stale.
    pub found: Vec<Found>,
    /// The words of the query, for snippets.
    pub query: Query,
    /// Arms that did not run, and why.
    pub degraded: Vec<String>,
    /// Whether another model answers since the snapshot was taken: the query is to be repeated.
    pub is_outdated: bool,
    /// Whether all that passes the filters is listed, because nothing is looked for.
    pub is_list: bool,
}

impl Answer {
    /// Returns the scores of hits that have a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns whether another answer has a hit with a word of its query that has no word of this one's.
    pub fn lacks_exact_of(&self, other: &Self) -> bool {
        let exact = |answer: &Self| -> HashSet<ChunkId> {
            answer.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.candidate.key).collect()
        };
        !exact(other).is_subset(&exact(self))
    }

    /// Adds the hits of the corrected query below the exact ones, and replaces those that are only near.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64) {
        self.found.retain(Found::is_exact);
        self.query = corrected.query;
        let known: HashSet<ChunkId> = self.found.iter().map(|hit| hit.ranked.candidate.key).collect();
        for mut hit in corrected.found {
            if !known.contains(&hit.ranked.candidate.key) {
                lower(&mut hit.ranked, factor);
                self.found.push(hit);
            }
        }
    }
}

impl Found {
    fn is_exact(&self) -> bool {
        let Signals { bm25, path, symbol, .. } = &self.ranked.candidate.signals;
        bm25.is_some() || path.is_some() || symbol.is_some()
    }
}

/// Runs the arms and ranks their candidates. The result is determined by the snapshot and the query.
///
/// # Errors
/// When the database cannot be read.
pub fn run(reader: &Reader, ask: &Ask<'_>) -> Result<Answer, DatabaseError> {
    let query = ask.query;
    let filter = restricted(reader, ask.view, ask.filter, query, ask.conditions)?;
    let members = &ask.chunks.within(&filter);
    let k = super::candidates(ask.limit);
    let mut arms = Arms::new(reader, ask, members, k);
    if ask.mode != Mode::Vector {
        arms.add_names()?;
        arms.add_words()?;
    }
    if ask.mode != Mode::Keyword {
        arms.add_nearest()?;
    }
    let Arms { mut pool, idf_of_words, degraded, is_outdated, .. } = arms;
    let lists = query.is_list() && pool.is_empty();
    if lists {
        list(reader, ask.view, members, k)?.into_iter().for_each(|chunk| pool.add(chunk));
    }
    let mut candidates = pool.candidates((reader, ask.kept), members, query)?;
    // The weights of such a comparison were fitted beside vectors; without them, and for names, the others rank.
    let has_vectors = candidates.iter().any(|candidate| candidate.signals.cosine.is_some());
    if ask.mode == Mode::Hybrid && has_vectors && query.wanted_texts().len() > 1 {
        compare_words((reader, ask.kept), query, &idf_of_words, &mut candidates)?;
    }
    let mut ranked = if lists {
        Ranked::unranked(candidates)
    } else {
        rerank::rank(query, filter.wanted_classes(), ask.without, candidates)
    };
    for hit in ranked.iter_mut().take(MOST_EXTENDED * ask.limit) {
        let content = members.view.content(hit.candidate.content);
        definition_pieces::extend((reader, ask.kept), content, &mut hit.candidate)?;
    }
    let n_shown = most_looked_at(ask.limit).max(MOST_EXTENDED * ask.limit);
    let mut found: Vec<Found> =
        ranked.into_iter().enumerate().map(|(nth, ranked)| found(members, ranked, nth < n_shown)).collect();
    add_texts(reader, &mut found, ask.limit)?;
    Ok(Answer { found, query: query.clone(), degraded, is_outdated, is_list: lists })
}

/// Adds the texts of the first commits, and of the first with a word of the query, which a corrected query may leave alone:
/// each of them is a hit, so no others are shown.
fn add_texts(reader: &Reader, found: &mut [Found], limit: usize) -> Result<(), DatabaseError> {
    let (mut n_commits, mut n_exact) = (0, 0);
    for hit in found.iter_mut().filter(|hit| hit.ranked.candidate.kind == Kind::Commit) {
        let is_exact = hit.is_exact();
        if n_commits < limit || is_exact && n_exact < limit {
            hit.text = reader.own_text(hit.ranked.candidate.key)?;
        }
        (n_commits, n_exact) = (n_commits + 1, n_exact + usize::from(is_exact));
    }
    Ok(())
}

fn found(members: &Members<'_>, ranked: Ranked<Candidate>, is_shown: bool) -> Found {
    let Candidate { content, bytes, .. } = ranked.candidate;
    let path = &ranked.candidate.path;
    let others = members.paths(content).filter(|other| other != path).map(str::to_owned);
    let other_paths = others.take(if is_shown { MOST_COPIES } else { 0 }).collect();
    Found { bytes, other_paths, hash: members.view.content(content).hash, text: None, ranked }
}
