//! Searches memories, and decides which memories help with a prompt.
//!
//! Runs BM25 over words and KNN over vectors, each restricted by the filter before the best k are taken, and ranks with
//! `memory_rank`. The scores are on the same scale as the scores of other hits, so that both can appear in one list.
//!
//! For a prompt, [`prompt_terms`] extracts the terms, and [`relevance`] rates the memories that were found.

mod memory_rank;
pub mod prompt_terms;
pub mod relevance;
pub mod superseded;

use std::collections::{HashMap, HashSet};

use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_embed::{BuiltinModel, Embedder, QueryVector};
use memod_memory_db::{AnchoredMemory, MemoryFilter, MemoryRecord, MemoryRows, RankingFacts};
use memod_proto::SearchMode;
use memod_proto::anchor::{Anchor, AnchorState};
use memod_text::stems::marked_stem;
use memod_text::words::{self as tokens, write_index_words};
use memod_vectors::vector_index::{IdSet, MutableVectorIndex};

use self::memory_rank::RecallCandidate;
use self::superseded::{SuccessorChains, move_successors_up};
use super::query::{Query, QueryRestriction, QueryWord};
use crate::candidates::arm_signals::{COSINE_FLOOR, TextRank};
use crate::candidates::ranked::RankedCandidate;
use crate::candidates::{MOST_CANDIDATES, VECTORS_PER_REQUESTED, list_limit};
use crate::ranking::correction_factor::apply_correction;
use crate::text_scores::maxsim::MaxSim;

/// Most words of a query that are compared with the words of the candidates.
const MOST_COMPARED: usize = 32;
/// Most memories that are added because they supersede hits.
const MOST_SUCCESSORS: usize = 200;

/// A search of the memories.
#[derive(Clone, Debug, Default)]
pub struct MemorySearchRequest {
    /// The parsed query.
    pub query: Query,
    /// The arms that run.
    pub mode: SearchMode,
    /// The filter that every hit must pass.
    pub filter: MemoryFilter,
    /// Number of requested hits.
    pub limit: usize,
    /// Least cosine of a memory that is found by its vector. `COSINE_FLOOR` applies if it is larger.
    pub min_cosine: f64,
    /// The vector of the query; `None` if the model knows no word of the query, or could not run.
    pub vector: Option<QueryVector>,
    /// Why the query has no vector; `None` unless the model could not run.
    pub why_no_vector: Option<String>,
    /// The text to embed instead of the text of the query; `None` for the latter.
    pub topic: Option<String>,
    /// The anchors of memories whose state has been checked, by memory id.
    pub checked_anchors: HashMap<String, Vec<Anchor>>,
}

impl MemorySearchRequest {
    /// Returns the filter, restricted by the operators of the query. Title, tags and content of a memory together must satisfy the
    /// operators.
    fn restricted_filter(&self) -> MemoryFilter {
        let QueryRestriction { required, excluded } = self.query.restriction_with_stems();
        MemoryFilter {
            expression: required.map(|expression| expression.to_string()),
            excluded: excluded.map(|expression| expression.to_string()),
            ..self.filter.clone()
        }
    }

    /// Embeds the query and sets `vector`, or sets `why_no_vector` if the model cannot run.
    pub fn set_query_vector(&mut self, embedder: Result<&dyn Embedder, &str>) {
        let text = self.topic.as_deref().unwrap_or(self.query.text_to_embed());
        let vector = embedder.map_err(str::to_owned).and_then(|embedder: &dyn Embedder| {
            QueryVector::embed_query(embedder, text).map_err(|error| error.to_string())
        });
        self.why_no_vector = vector.as_ref().err().cloned();
        self.vector = vector.ok().flatten();
    }
}

/// A memory that a search found.
#[derive(Clone, Debug)]
pub struct FoundMemory {
    /// Score, factors and rank in each arm.
    pub ranked: RankedCandidate<RecallCandidate>,
    /// The stored memory.
    pub record: MemoryRecord,
}

/// The best memories, and the number of candidates.
#[derive(Clone, Debug, Default)]
pub struct FoundMemories {
    /// At most the requested number, best first.
    pub found: Vec<FoundMemory>,
    /// Number of candidates of all arms.
    pub total: usize,
    /// Candidates with anchors that have not been checked, with these anchors.
    pub unchecked_anchors: Vec<AnchoredMemory>,
    /// Whether the stored vectors belong to another model than the vector of the query. The search must be repeated then.
    pub is_outdated: bool,
}

impl FoundMemories {
    /// Returns the scores of the exact hits: the memories with a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns whether `other` has an exact hit that is no exact hit here.
    pub fn lacks_exact_hits_of(&self, other: &Self) -> bool {
        let own = self.exact_rows();
        other.exact_rows().iter().any(|row| !own.contains(row))
    }

    fn exact_rows(&self) -> Vec<MemoryRow> {
        let exact = self.found.iter().filter(|hit| hit.is_exact());
        exact.map(|hit| hit.ranked.candidate.facts.row).collect()
    }

    /// Appends the memories of the corrected query, with their scores lowered by `factor`, up to `limit` memories. Keeps the exact
    /// hits and their successors, and removes the others.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64, limit: usize) {
        self.retain_exact();
        for mut hit in corrected.found {
            if !self.found.iter().any(|known| known.record.id == hit.record.id) {
                apply_correction(&mut hit.ranked, factor);
                self.found.push(hit);
            }
        }
        self.found.truncate(limit);
        self.total = self.total.max(corrected.total).max(self.found.len());
        self.unchecked_anchors.extend(corrected.unchecked_anchors);
    }
}

impl FoundMemories {
    /// Removes all memories except the exact hits and their successors.
    fn retain_exact(&mut self) {
        let mut successors = HashSet::new();
        // Successors precede the memories that they supersede, so the list is read from its end.
        let mut is_retained: Vec<bool> = self
            .found
            .iter()
            .rev()
            .map(|hit| {
                let RankingFacts { id, successors: above, .. } = &hit.ranked.candidate.facts;
                let is_kept = hit.is_exact() || successors.contains(id);
                successors.extend(above.iter().filter(|_| is_kept).cloned());
                is_kept
            })
            .collect();
        self.found.retain(|_| is_retained.pop().unwrap_or_default());
    }
}

impl FoundMemory {
    /// Returns whether the memory has a word of the query.
    fn is_exact(&self) -> bool {
        self.ranked.candidate.signals.bm25.is_some()
    }
}

/// Runs both arms and ranks their candidates. `vectors` holds the vectors of all living memories.
///
/// # Errors
/// When the database cannot be read.
pub fn search_memories(
    rows: &MemoryRows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    request: &MemorySearchRequest,
) -> Result<FoundMemories, DatabaseError> {
    let k = MOST_CANDIDATES;
    let filter = &request.restricted_filter();
    let is_outdated = request.vector.as_ref().is_some_and(|vector| vector.model_id() != vectors.model_id());
    let mut pool: HashMap<MemoryRow, RecallCandidate> = HashMap::new();
    let mut texts = HashMap::new();
    if request.mode != SearchMode::Vector
        && let Some(expression) = request.query.match_expression_with_stems()
    {
        let found = rows.search().rank_by_rarer_words(filter, &expression, k)?;
        texts.extend(rows.search().memory_texts(&found.iter().map(|(row, _)| *row).collect::<Vec<_>>())?);
        for (rank, (row, bm25)) in (1..).zip(found) {
            let candidate = pool.entry(row).or_default();
            candidate.signals.bm25 = Some(TextRank { rank, bm25: -bm25 });
            candidate.covered =
                texts.get(&row).map_or(0.0, |text| covered_share(text, request.query.words()));
        }
    }
    if request.mode != SearchMode::Keyword
        && let Some(vector) = &request.vector
    {
        let floor = request.min_cosine.max(f64::from(COSINE_FLOOR));
        let near = nearest_memories(rows, vectors, filter, vector, k, floor)?;
        for (rank, (row, cosine)) in (1..).zip(near) {
            let signals = &mut pool.entry(row).or_default().signals;
            (signals.knn, signals.cosine) = (Some(rank), Some(cosine as f32));
        }
    }
    if request.query.is_listing() {
        let mut newest = rows.search().select_rows(filter, None)?;
        newest.sort_unstable_by(|left, right| right.cmp(left));
        pool.extend(
            newest.into_iter().take(list_limit(request.limit)).map(|row| (row, RecallCandidate::default())),
        );
    }
    if let Some(name) = request.query.asked_name() {
        rows.anchors().each_anchored_symbol(filter, |row, symbol| {
            if name.is_end_of(symbol) {
                pool.entry(row).or_default();
            }
        })?;
    }
    if pool.is_empty() {
        return Ok(FoundMemories { is_outdated, ..FoundMemories::default() });
    }
    let (mut found, mut unjudged) = add_facts(rows, vectors, request, pool)?;
    if request.mode == SearchMode::Hybrid {
        set_word_similarity(rows, &request.query, &mut texts, &mut found)?;
    }
    let rows_found: HashSet<MemoryRow> = found.iter().map(|candidate| candidate.facts.row).collect();
    let mut ranked = memory_rank::rank_memories(found, request.query.is_one_word(), rows.now_ms());
    ranked.truncate(request.limit);
    unjudged.extend(add_newest_successors(rows, vectors, request, filter, &mut ranked)?);
    let total =
        rows_found.len() + ranked.iter().filter(|hit| !rows_found.contains(&hit.candidate.facts.row)).count();
    ranked.truncate(request.limit);
    let best: Vec<MemoryRow> = ranked.iter().map(|hit| hit.candidate.facts.row).collect();
    let mut records: HashMap<MemoryRow, MemoryRecord> =
        rows.records().find_records(&best)?.into_iter().collect();
    let found = ranked.into_iter().filter_map(|ranked| {
        let record = records.remove(&ranked.candidate.facts.row)?;
        Some(FoundMemory { ranked, record })
    });
    Ok(FoundMemories { found: found.collect(), total, unchecked_anchors: unjudged, is_outdated })
}

/// Returns the `k` nearest memories that pass the filter, with their cosines, nearest first. Cosines below `floor` are left out.
///
/// Most memories pass most filters. So the nearest `k * SPARE` memories are tested first, and if `k` of them pass, no other memory
/// is nearer. Otherwise all memories that pass are looked up, and only these are compared.
///
/// # Errors
/// When the database cannot be read.
pub fn nearest_memories(
    rows: &MemoryRows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    filter: &MemoryFilter,
    vector: &QueryVector,
    k: usize,
    floor: f64,
) -> Result<Vec<(MemoryRow, f64)>, DatabaseError> {
    let mut first = vectors.find_nearest(vector, k * VECTORS_PER_REQUESTED, |_| true);
    first.retain(|(_, cosine)| *cosine >= floor);
    if first.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MemoryRow> = first.iter().map(|(row, _)| *row).collect();
    let passing: IdSet = rows.search().select_rows(filter, Some(&ids))?.into_iter().collect();
    let n_seen = first.len();
    let mut near: Vec<_> = first.into_iter().filter(|(row, _)| passing.contains(*row)).take(k).collect();
    if near.len() < k && n_seen == k * VECTORS_PER_REQUESTED {
        let passing: IdSet = rows.search().select_rows(filter, None)?.into_iter().collect();
        near = vectors.find_nearest(vector, k, |row| passing.contains(row));
        near.retain(|(_, cosine)| *cosine >= floor);
    }
    Ok(near)
}

/// Adds the facts for ranking to the candidates. Also returns the candidates with anchors that have not been checked.
fn add_facts(
    rows: &MemoryRows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    request: &MemorySearchRequest,
    mut pool: HashMap<MemoryRow, RecallCandidate>,
) -> Result<(Vec<RecallCandidate>, Vec<AnchoredMemory>), DatabaseError> {
    let keys: Vec<MemoryRow> = pool.keys().copied().collect();
    let mut candidates = Vec::with_capacity(keys.len());
    for facts in rows.search().ranking_facts(&keys)? {
        let Some(mut candidate) = pool.remove(&facts.row) else { continue };
        if candidate.signals.cosine.is_none()
            && let Some(vector) = &request.vector
            && request.mode != SearchMode::Keyword
        {
            candidate.signals.cosine = vectors.scaled_cosine(vector, facts.row).map(|cosine| cosine as f32);
        }
        candidate.facts = facts;
        candidates.push(candidate);
    }
    let mut unjudged = rows.anchors().find_anchors(&keys)?;
    unjudged.retain(|(id, _)| !request.checked_anchors.contains_key(id));
    for candidate in &mut candidates {
        candidate.state = request
            .checked_anchors
            .get(&candidate.facts.id)
            .and_then(|anchors| AnchorState::from_anchors(anchors));
    }
    Ok((candidates, unjudged))
}

/// Inserts the newest successors of each hit right before the hit, if they pass the filter, and sets them as its successors.
/// Successors that are superseded themselves are left out. Also returns the added memories with anchors that have not been checked.
fn add_newest_successors(
    rows: &MemoryRows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    request: &MemorySearchRequest,
    filter: &MemoryFilter,
    ranked: &mut Vec<RankedCandidate<RecallCandidate>>,
) -> Result<Vec<AnchoredMemory>, DatabaseError> {
    let n_found = ranked.len();
    let mut known: HashSet<String> = ranked.iter().map(|hit| hit.candidate.facts.id.clone()).collect();
    let (mut left_out, mut unjudged) = (HashSet::new(), Vec::new());
    let (mut n_read, mut n_added) = (0, 0);
    while n_read < ranked.len() && n_added < MOST_SUCCESSORS {
        let unread = ranked[n_read..].iter().flat_map(|hit| &hit.candidate.facts.successors);
        let ids: Vec<String> = unread.filter(|id| known.insert((*id).clone())).cloned().collect();
        n_read = ranked.len();
        if ids.is_empty() {
            break;
        }
        let all =
            rows.search().select_rows(&MemoryFilter { ids: Some(ids), ..MemoryFilter::default() }, None)?;
        let meant: HashSet<MemoryRow> = rows.search().select_rows(filter, Some(&all))?.into_iter().collect();
        n_added += meant.len();
        left_out.extend(all.iter().copied().filter(|row| !meant.contains(row)));
        let pool = all.into_iter().map(|row| (row, RecallCandidate::default())).collect();
        let (successors, anchors) = add_facts(rows, vectors, request, pool)?;
        ranked.extend(RankedCandidate::unranked(successors));
        unjudged.extend(anchors);
    }
    let facts = ranked.iter().map(|hit| &hit.candidate.facts);
    let passing = facts.clone().filter(|facts| !left_out.contains(&facts.row)).map(|facts| facts.id.clone());
    let chains = SuccessorChains {
        passing: passing.collect(),
        successors: facts.map(|facts| (facts.id.clone(), facts.successors.clone())).collect(),
    };
    let (found, added) = ranked.split_at_mut(n_found);
    let mut newest = HashSet::new();
    for hit in found {
        let facts = &mut hit.candidate.facts;
        facts.successors = chains.newest_successors(&facts.id);
        newest.extend(facts.successors.iter().cloned());
    }
    left_out.extend(
        added
            .iter()
            .map(|hit| &hit.candidate.facts)
            .filter(|facts| !newest.contains(&facts.id))
            .map(|facts| facts.row),
    );
    move_successors_up(ranked);
    ranked.retain(|hit| !left_out.contains(&hit.candidate.facts.row));
    Ok(unjudged)
}

/// Sets `maxsim` of each candidate: the similarity of its words to the words of the query. Rare words count more. Reads the texts
/// that are missing in `texts`.
fn set_word_similarity(
    rows: &MemoryRows<'_>,
    query: &Query,
    texts: &mut HashMap<MemoryRow, String>,
    candidates: &mut [RecallCandidate],
) -> Result<(), DatabaseError> {
    let Ok(model) = BuiltinModel::shared() else { return Ok(()) };
    let n_memories = rows.words().estimate_memory_count()? as f64;
    let mut weighed: Vec<(&str, f64)> = Vec::new();
    for text in query.wanted_texts().into_iter().take(MOST_COMPARED) {
        if weighed.iter().all(|(known, _)| *known != text) {
            let n_with = rows.words().count_memories_with_term(&tokens::joined_name(text))? as f64;
            weighed.push((text, ((n_memories + 1.0) / (n_with + 0.5)).ln().max(0.0)));
        }
    }
    let Some(mut maxsim) = MaxSim::new(&model, weighed) else { return Ok(()) };
    let unread =
        candidates.iter().map(|candidate| candidate.facts.row).filter(|row| !texts.contains_key(row));
    texts.extend(rows.search().memory_texts(&unread.collect::<Vec<_>>())?);
    for candidate in candidates {
        let text = texts.get(&candidate.facts.row);
        let largest = text.map(|text| maxsim.largest_cosines(&model.distinct_pieces(text)));
        candidate.signals.maxsim = largest.map(|largest| maxsim.weighted_mean(&largest));
    }
    Ok(())
}

/// Returns the share of the words that a text contains, in any form of the word; 0 to 1, by the weights of the words.
fn covered_share(text: &str, words: &[QueryWord]) -> f64 {
    let mut stream = String::new();
    write_index_words(text, &mut stream);
    let stems: Vec<_> = words.iter().map(|word| marked_stem(&word.text)).collect();
    let mut is_there = vec![false; words.len()];
    for token in stream.split_ascii_whitespace() {
        for (nth, word) in words.iter().enumerate().filter(|(_, word)| share_first_letters(token, &word.text))
        {
            is_there[nth] |= token == word.text
                || word.is_prefix && token.starts_with(&word.text)
                || stems[nth].is_some() && marked_stem(token) == stems[nth];
        }
    }
    let all: f64 = words.iter().map(|word| f64::from(word.weight)).sum();
    let covered: f64 =
        words.iter().zip(is_there).filter(|(_, is)| *is).map(|(word, _)| f64::from(word.weight)).sum();
    if all > 0.0 { covered / all } else { 0.0 }
}

/// Returns whether two tokens have the same first two letters. Otherwise they have different stems, and need not be stemmed, which
/// would take longer than the rest of a search.
fn share_first_letters(left: &str, right: &str) -> bool {
    left.bytes().zip(right.bytes()).take(2).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse_query;

    #[test]
    fn another_form_of_a_word_covers_it() {
        let covers = |text: &str, query: &str| covered_share(text, parse_query(query).words());
        assert!((covers("tokens are hashed", "hashing token") - 1.0).abs() < 1e-9);
        assert!((covers("tokens are hashed", "hashing salt") - 0.5).abs() < 1e-9);
        assert!((covers("tokens are hashed", "hash*") - 1.0).abs() < 1e-9);
        assert!(covers("tokens", "").abs() < 1e-9);
    }
}
