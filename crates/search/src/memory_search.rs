//! Searches memories.
//!
//! Runs BM25 over words and KNN over vectors, each filtered inside its top-k, and ranks with `memory_rank`. The scores are
//! on the scale of other hits, so that both can appear in one list.

use std::collections::{HashMap, HashSet};

use memod_base::types::{Expression, MemoryRow};
use memod_database::DatabaseError;
use memod_embed::{Builtin, Embedder, QueryVector};
use memod_memory_db::{Anchored, Facts, MemoryFilter, Record, Rows};
use memod_proto::Mode;
use memod_proto::anchor::{Anchor, State};
use memod_text::stems::stem;
use memod_text::words::{self as tokens, index_words};

use super::correction::lower;
use super::fuse::{COSINE_FLOOR, TextRank};
use super::maxsim::MaxSim;
use super::memory_rank::{self, Candidate};
use super::query::{Query, Restriction, Word};
use super::ranked::Ranked;
use super::superseded::{Chains, put_above_superseded};
use super::{SPARE, candidates};
use memod_vectors::nearest::{IdSet, MutableVectorIndex};

/// Most words of a query that are compared with those of its candidates.
const MOST_COMPARED: usize = 32;
/// Most memories that are added because they supersede hits.
const MOST_SUCCESSORS: usize = 200;

/// A search of the memories.
#[derive(Clone, Debug, Default)]
pub struct MemoryAsk {
    /// The parsed query.
    pub query: Query,
    /// Which arms answer.
    pub mode: Mode,
    /// Filter.
    pub filter: MemoryFilter,
    /// Hits wanted.
    pub limit: usize,
    /// Lowest cosine of a memory that is found by its vector; never below that of noise.
    pub min_cosine: f64,
    /// The query's vector, if it has one.
    pub vector: Option<QueryVector>,
    /// Why it has none, if the model could not run.
    pub why_no_vector: Option<String>,
    /// What is embedded instead of the query.
    pub topic: Option<String>,
    /// States of anchors by memory id.
    pub judged: HashMap<String, Vec<Anchor>>,
}

impl MemoryAsk {
    /// Returns the filter with what the operators of the query demand: title, tags and content of a memory together must
    /// satisfy them.
    fn restricted_filter(&self) -> MemoryFilter {
        let Restriction { required, excluded } = self.query.restriction_with_stems();
        let text = |expression: Option<Expression>| expression.map(|expression| expression.to_string());
        MemoryFilter { expression: text(required), excluded: text(excluded), ..self.filter.clone() }
    }

    /// Adds the vector of the query, if the model is loaded and knows a word of it.
    pub fn embed(&mut self, embedder: Result<&dyn Embedder, &str>) {
        let text = self.topic.as_deref().unwrap_or(self.query.text());
        let embed =
            |embedder: &dyn Embedder| QueryVector::of_text(embedder, text).map_err(|error| error.to_string());
        let vector = embedder.map_err(str::to_owned).and_then(embed);
        self.why_no_vector = vector.as_ref().err().cloned();
        self.vector = vector.ok().flatten();
    }
}

/// A memory that was found.
#[derive(Clone, Debug)]
pub struct FoundMemory {
    /// Score, factors and rank in each arm.
    pub ranked: Ranked<Candidate>,
    /// The stored memory.
    pub record: Record,
}

/// The best memories, and the number of candidates.
#[derive(Clone, Debug, Default)]
pub struct FoundMemories {
    /// At most the requested number, best first.
    pub found: Vec<FoundMemory>,
    /// Candidates of any arm.
    pub total: usize,
    /// Anchors of candidates whose state is unknown, by memory id.
    pub unjudged: Vec<Anchored>,
    /// Whether the vectors are of another model than the query: it is to be embedded again, and the search repeated.
    pub is_outdated: bool,
}

impl FoundMemories {
    /// Returns the scores of memories that have a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns whether another answer has a memory with a word of its query that has no word of this one's.
    pub fn lacks_exact_of(&self, other: &Self) -> bool {
        let exact = |found: &Self| -> Vec<MemoryRow> {
            let exact = found.found.iter().filter(|hit| hit.is_exact());
            exact.map(|hit| hit.ranked.candidate.facts.row).collect()
        };
        let own = exact(self);
        exact(other).iter().any(|row| !own.contains(row))
    }

    /// Adds the memories of the corrected query below the exact ones, and replaces those that are only near.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64, limit: usize) {
        self.retain_exact();
        for mut hit in corrected.found {
            if !self.found.iter().any(|known| known.record.id == hit.record.id) {
                lower(&mut hit.ranked, factor);
                self.found.push(hit);
            }
        }
        self.found.truncate(limit);
        self.total = self.total.max(corrected.total).max(self.found.len());
        self.unjudged.extend(corrected.unjudged);
    }
}

impl FoundMemories {
    /// Leaves those with a word of the query, and what supersedes them.
    fn retain_exact(&mut self) {
        let mut successors = HashSet::new();
        // What supersedes a memory stands before it.
        let is_kept = |hit: &FoundMemory| {
            let Facts { id, successors: above, .. } = &hit.ranked.candidate.facts;
            let is_kept = hit.is_exact() || successors.contains(id);
            successors.extend(above.iter().filter(|_| is_kept).cloned());
            is_kept
        };
        let mut kept: Vec<bool> = self.found.iter().rev().map(is_kept).collect();
        self.found.retain(|_| kept.pop().unwrap_or_default());
    }
}

impl FoundMemory {
    fn is_exact(&self) -> bool {
        self.ranked.candidate.signals.bm25.is_some()
    }
}

/// Runs both arms and ranks their candidates; `vectors` are those of living memories.
///
/// # Errors
/// When the database cannot be read.
pub fn memories(
    rows: &Rows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    ask: &MemoryAsk,
) -> Result<FoundMemories, DatabaseError> {
    let k = candidates(ask.limit);
    let filter = &ask.restricted_filter();
    let is_outdated = ask.vector.as_ref().is_some_and(|vector| vector.model() != vectors.model());
    let mut pool: HashMap<MemoryRow, Candidate> = HashMap::new();
    let mut texts = HashMap::new();
    if ask.mode != Mode::Vector
        && let Some(expression) = ask.query.match_with_stems()
    {
        let found = rows.bm25_by_rarer(filter, &expression, k)?;
        texts.extend(rows.texts(&found.iter().map(|(row, _)| *row).collect::<Vec<_>>())?);
        for (rank, (row, bm25)) in (1..).zip(found) {
            let candidate = pool.entry(row).or_default();
            candidate.signals.bm25 = Some(TextRank { rank, bm25: -bm25 });
            candidate.covered = texts.get(&row).map_or(0.0, |text| covered(text, ask.query.words()));
        }
    }
    if ask.mode != Mode::Keyword
        && let Some(vector) = &ask.vector
    {
        let floor = ask.min_cosine.max(f64::from(COSINE_FLOOR));
        let near = nearest(rows, vectors, filter, vector, k, floor)?;
        for (rank, (row, cosine)) in (1..).zip(near) {
            let signals = &mut pool.entry(row).or_default().signals;
            (signals.knn, signals.cosine) = (Some(rank), Some(cosine as f32));
        }
    }
    if ask.query.is_list() {
        let mut newest = rows.meant(filter, None)?;
        newest.sort_unstable_by(|left, right| right.cmp(left));
        pool.extend(newest.into_iter().take(k).map(|row| (row, Candidate::default())));
    }
    if pool.is_empty() {
        return Ok(FoundMemories { is_outdated, ..FoundMemories::default() });
    }
    let (mut found, mut unjudged) = with_facts(rows, vectors, ask, pool)?;
    if ask.mode == Mode::Hybrid {
        compare_words(rows, &ask.query, &mut texts, &mut found)?;
    }
    let rows_found: HashSet<MemoryRow> = found.iter().map(|candidate| candidate.facts.row).collect();
    let mut ranked = memory_rank::rank(found, ask.query.is_one_word(), rows.now_ms());
    ranked.truncate(ask.limit);
    unjudged.extend(add_newest(rows, vectors, ask, filter, &mut ranked)?);
    let is_added = |hit: &&Ranked<Candidate>| !rows_found.contains(&hit.candidate.facts.row);
    let total = rows_found.len() + ranked.iter().filter(is_added).count();
    ranked.truncate(ask.limit);
    let best: Vec<MemoryRow> = ranked.iter().map(|hit| hit.candidate.facts.row).collect();
    let mut records: HashMap<MemoryRow, Record> = rows.records(&best)?.into_iter().collect();
    let found = ranked.into_iter().filter_map(|ranked| {
        let record = records.remove(&ranked.candidate.facts.row)?;
        Some(FoundMemory { ranked, record })
    });
    Ok(FoundMemories { found: found.collect(), total, unjudged, is_outdated })
}

/// Returns the `k` nearest memories that pass the filter, with their cosine of at least `floor`, nearest first.
///
/// Without a filter nearly all pass: if `k` of slightly more than `k` do, no other can be nearer. Otherwise those that pass
/// are looked up first.
///
/// # Errors
/// When the database cannot be read.
pub fn nearest(
    rows: &Rows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    filter: &MemoryFilter,
    vector: &QueryVector,
    k: usize,
    floor: f64,
) -> Result<Vec<(MemoryRow, f64)>, DatabaseError> {
    let is_near = |(_, cosine): &(MemoryRow, f64)| *cosine >= floor;
    let mut first = vectors.top(vector, k * SPARE, |_| true);
    first.retain(is_near);
    if first.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MemoryRow> = first.iter().map(|(row, _)| *row).collect();
    let meant: IdSet = rows.meant(filter, Some(&ids))?.into_iter().collect();
    let n_seen = first.len();
    let mut near: Vec<_> = first.into_iter().filter(|(row, _)| meant.contains(*row)).take(k).collect();
    if near.len() < k && n_seen == k * SPARE {
        let meant: IdSet = rows.meant(filter, None)?.into_iter().collect();
        near = vectors.top(vector, k, |row| meant.contains(row));
        near.retain(is_near);
    }
    Ok(near)
}

/// Adds the facts for ranking; also returns the anchors without a known state.
fn with_facts(
    rows: &Rows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    ask: &MemoryAsk,
    mut pool: HashMap<MemoryRow, Candidate>,
) -> Result<(Vec<Candidate>, Vec<Anchored>), DatabaseError> {
    let keys: Vec<MemoryRow> = pool.keys().copied().collect();
    let mut candidates = Vec::with_capacity(keys.len());
    for facts in rows.facts(&keys)? {
        let Some(mut candidate) = pool.remove(&facts.row) else { continue };
        if candidate.signals.cosine.is_none()
            && let Some(vector) = &ask.vector
            && ask.mode != Mode::Keyword
        {
            candidate.signals.cosine = vectors.cosine(vector, facts.row).map(|cosine| cosine as f32);
        }
        candidate.facts = facts;
        candidates.push(candidate);
    }
    let mut unjudged = rows.anchors_of(&keys)?;
    unjudged.retain(|(id, _)| !ask.judged.contains_key(id));
    for candidate in &mut candidates {
        candidate.state = ask.judged.get(&candidate.facts.id).and_then(|anchors| State::of(anchors));
    }
    Ok((candidates, unjudged))
}

/// Adds the newest of what supersedes a hit, of what the filter lets pass, right before the hit, and says what it is superseded by;
/// also returns the anchors without a known state. What stands between in a chain is not added.
fn add_newest(
    rows: &Rows<'_>,
    vectors: &MutableVectorIndex<MemoryRow>,
    ask: &MemoryAsk,
    filter: &MemoryFilter,
    ranked: &mut Vec<Ranked<Candidate>>,
) -> Result<Vec<Anchored>, DatabaseError> {
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
        let all = rows.meant(&MemoryFilter { ids: Some(ids), ..MemoryFilter::default() }, None)?;
        let meant: HashSet<MemoryRow> = rows.meant(filter, Some(&all))?.into_iter().collect();
        n_added += meant.len();
        left_out.extend(all.iter().copied().filter(|row| !meant.contains(row)));
        let pool = all.into_iter().map(|row| (row, Candidate::default())).collect();
        let (successors, anchors) = with_facts(rows, vectors, ask, pool)?;
        ranked.extend(Ranked::unranked(successors));
        unjudged.extend(anchors);
    }
    let facts = ranked.iter().map(|hit| &hit.candidate.facts);
    let passing = facts.clone().filter(|facts| !left_out.contains(&facts.row)).map(|facts| facts.id.clone());
    let chains = Chains {
        passing: passing.collect(),
        successors: facts.map(|facts| (facts.id.clone(), facts.successors.clone())).collect(),
    };
    let (found, added) = ranked.split_at_mut(n_found);
    let mut kept = HashSet::new();
    for hit in found {
        let facts = &mut hit.candidate.facts;
        facts.successors = chains.newest(&facts.id);
        kept.extend(facts.successors.iter().cloned());
    }
    left_out.extend(
        added
            .iter()
            .map(|hit| &hit.candidate.facts)
            .filter(|facts| !kept.contains(&facts.id))
            .map(|facts| facts.row),
    );
    put_above_superseded(ranked);
    ranked.retain(|hit| !left_out.contains(&hit.candidate.facts.row));
    Ok(unjudged)
}

/// Sets how similar the words of each candidate are to those of the query, rare words counting more. Reads texts that are
/// not known.
fn compare_words(
    rows: &Rows<'_>,
    query: &Query,
    texts: &mut HashMap<MemoryRow, String>,
    candidates: &mut [Candidate],
) -> Result<(), DatabaseError> {
    let Ok(model) = Builtin::shared() else { return Ok(()) };
    let n_memories = rows.last_row()? as f64;
    let mut weighed: Vec<(&str, f64)> = Vec::new();
    for text in query.wanted_texts().into_iter().take(MOST_COMPARED) {
        if weighed.iter().all(|(known, _)| *known != text) {
            let n_with = rows.n_memories_with(&tokens::joined(text))? as f64;
            weighed.push((text, ((n_memories + 1.0) / (n_with + 0.5)).ln().max(0.0)));
        }
    }
    let Some(mut maxsim) = MaxSim::new(&model, weighed) else { return Ok(()) };
    let unread =
        candidates.iter().map(|candidate| candidate.facts.row).filter(|row| !texts.contains_key(row));
    texts.extend(rows.texts(&unread.collect::<Vec<_>>())?);
    for candidate in candidates {
        let text = texts.get(&candidate.facts.row);
        let largest = text.map(|text| maxsim.largest(&model.pieces(text)));
        candidate.signals.maxsim = largest.map(|largest| maxsim.mean(&largest));
    }
    Ok(())
}

/// Returns the weighted share of words that a text has, in this or another form; 0 to 1.
fn covered(text: &str, words: &[Word]) -> f64 {
    let mut stream = String::new();
    index_words(text, &mut stream);
    let stems: Vec<_> = words.iter().map(|word| stem(&word.text)).collect();
    let mut is_there = vec![false; words.len()];
    for token in stream.split_ascii_whitespace() {
        for (nth, word) in words.iter().enumerate().filter(|(_, word)| begin_alike(token, &word.text)) {
            is_there[nth] |= token == word.text
                || word.is_prefix && token.starts_with(&word.text)
                || stems[nth].is_some() && stem(token) == stems[nth];
        }
    }
    let weight = |nth: usize| f64::from(words[nth].weight);
    let all: f64 = (0..words.len()).map(weight).sum();
    let there: f64 = (0..words.len()).filter(|nth| is_there[*nth]).map(weight).sum();
    if all > 0.0 { there / all } else { 0.0 }
}

/// Returns whether two tokens may be forms of one word, judging by their first letters, which no stemmer changes. Stemming
/// each token would take longer than the rest of a search.
fn begin_alike(left: &str, right: &str) -> bool {
    left.bytes().zip(right.bytes()).take(2).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    #[test]
    fn another_form_of_a_word_covers_it() {
        let covers = |text: &str, query: &str| covered(text, parse(query).words());
        assert!((covers("tokens are hashed", "hashing token") - 1.0).abs() < 1e-9);
        assert!((covers("tokens are hashed", "hashing salt") - 0.5).abs() < 1e-9);
        assert!((covers("tokens are hashed", "hash*") - 1.0).abs() < 1e-9);
        assert!(covers("tokens", "").abs() < 1e-9);
    }
}
