//! Runs the arms of a search on one snapshot.

use std::collections::HashMap;

use super::SPARE;
use super::copies::Copies;
use super::correction::lower;
use super::fuse::{COSINE_FLOOR, Signals, TextRank};
use super::listing::list;
use super::nearest::IdSet;
use super::query::Query;
use super::ranked::Ranked;
use super::rerank::{self, Candidate};
use super::restriction::{Conditions, restricted};
use super::shared_vectors::SharedVectors;
use crate::embed::{Embedder, cosine_i8, quantize};
use crate::proto::Mode;
use crate::store::{ChunkRow, Filter, OTHERS_A_COMMIT, Reader, StoreError};
use crate::types::{ChunkId, Kind, ViewId};

/// A search of the index.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The worktree.
    pub view: ViewId,
    /// The parsed query.
    pub query: &'a Query,
    /// Which arms answer.
    pub mode: Mode,
    /// Filter.
    pub filter: &'a Filter,
    /// Conditions beyond the filter.
    pub conditions: &'a Conditions,
    /// Hits wanted.
    pub limit: usize,
    /// The model, or the error.
    pub embedder: Result<&'a dyn Embedder, &'a str>,
    /// All vectors.
    pub nearest: &'a SharedVectors,
}

/// A hit with its row.
#[derive(Clone, Debug)]
pub struct Found {
    /// Score, factors and rank in each arm.
    pub ranked: Ranked<Candidate>,
    /// Its chunk.
    pub row: ChunkRow,
    /// The text of a commit; that of a file is on disk.
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
}

impl Answer {
    /// Returns the scores of hits that have a word of the query.
    pub fn exact_scores(&self) -> impl Iterator<Item = f64> {
        self.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.ranked.score)
    }

    /// Returns whether another answer has a hit with a word of its query that has no word of this one's.
    pub fn lacks_exact_of(&self, other: &Self) -> bool {
        let exact = |answer: &Self| -> Vec<ChunkId> {
            answer.found.iter().filter(|hit| hit.is_exact()).map(|hit| hit.row.id).collect()
        };
        let own = exact(self);
        exact(other).iter().any(|id| !own.contains(id))
    }

    /// Adds the hits of the corrected query below the exact ones, and replaces those that are only near.
    pub fn add_corrected(&mut self, corrected: Self, factor: f64) {
        self.found.retain(Found::is_exact);
        self.query = corrected.query;
        for mut hit in corrected.found {
            if !self.found.iter().any(|known| known.row.id == hit.row.id) {
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
pub fn run(reader: &Reader, ask: &Ask<'_>) -> Result<Answer, StoreError> {
    let query = ask.query;
    let filter = restricted(reader, ask.view, ask.filter, query, ask.conditions)?;
    let ask = &Ask { filter: &filter, ..*ask };
    let mut pool = Pool::default();
    let mut copies = Copies::new(reader, ask.view, ask.filter, query);
    let mut degraded = Vec::new();
    let k = super::candidates(ask.limit);
    if ask.mode != Mode::Vector {
        pool.add_words(reader, ask, &mut copies, k)?;
    }
    if ask.mode != Mode::Keyword {
        match ask.embedder {
            Ok(embedder) => pool.add_nearest(reader, ask, embedder, &mut copies, k, &mut degraded)?,
            Err(why) => degraded.push(format!("knn: {why}")),
        }
    }
    let lists = query.words().is_empty() && !query.filters().is_empty() && pool.candidates.is_empty();
    if lists {
        for row in copies.choose(list(reader, ask, k)?)? {
            pool.signals(row);
        }
    }
    let Pool { candidates, mut rows, .. } = pool;
    let ranked = if lists { Ranked::unranked(candidates) } else { rerank::rank(query, candidates) };
    let mut found = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let Some(row) = rows.remove(&ranked.candidate.key) else { continue };
        let text = if row.kind == Kind::Commit { reader.own_text(row.id)? } else { None };
        found.push(Found { ranked, row, text });
    }
    Ok(Answer { found, query: query.clone(), degraded })
}

/// Candidates of all arms, each chunk once.
#[derive(Default)]
struct Pool {
    candidates: Vec<Candidate>,
    rows: HashMap<ChunkId, ChunkRow>,
    index: HashMap<ChunkId, usize>,
    by_path: HashMap<String, Vec<usize>>,
}

impl Pool {
    fn add_words(
        &mut self,
        reader: &Reader,
        ask: &Ask<'_>,
        copies: &mut Copies<'_>,
        k: usize,
    ) -> Result<(), StoreError> {
        let query = ask.query;
        let names = match query.words() {
            [] => &ask.conditions.own_names(),
            _ => query.symbols(),
        };
        for (rank, name) in names.iter().enumerate() {
            for row in copies.choose(reader.by_symbol(ask.view, ask.filter, name, k)?)? {
                let signals = self.signals(row);
                signals.symbol = signals.symbol.or(Some(rank as u32 + 1));
            }
        }
        let Some(expression) = query.match_expression() else { return Ok(()) };
        let rows = copies.choose(reader.bm25(ask.view, ask.filter, &expression, k)?)?;
        for (rank, row) in (1..).zip(rows) {
            let bm25 = row.value;
            let signals = self.signals(row);
            signals.bm25 = signals.bm25.or(Some(TextRank { rank, bm25 }));
        }
        let Some(expression) = query.match_any_word() else { return Ok(()) };
        let rows = copies.choose(reader.by_path(ask.view, ask.filter, &expression, k)?)?;
        for (rank, row) in (1..).zip(rows) {
            let place = TextRank { rank, bm25: row.value };
            // A path match applies to all chunks of the file; its first one represents it if no other was found.
            if !self.by_path.contains_key(&row.path) {
                self.signals(row.clone());
            }
            for index in self.by_path.get(&row.path).into_iter().flatten() {
                self.candidates[*index].signals.path = Some(place);
            }
        }
        Ok(())
    }

    fn add_nearest(
        &mut self,
        reader: &Reader,
        ask: &Ask<'_>,
        embedder: &dyn Embedder,
        copies: &mut Copies<'_>,
        k: usize,
        degraded: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let vector = match embedder.embed(&[ask.query.text()]) {
            Ok(mut vectors) => vectors.pop().flatten(),
            Err(error) => {
                degraded.push(format!("knn: {error}"));
                None
            }
        };
        let Some(vector) = vector.as_deref().map(quantize) else { return Ok(()) };
        let Some(near) = scan(reader, ask, &vector, k)? else {
            degraded.push("knn: vectors loading".to_owned());
            return Ok(());
        };
        let mut near = copies.choose(near)?;
        for row in &mut near {
            if row.kind == Kind::Commit {
                continue; // its key says nothing
            }
            let path = reader.path_vector(&row.path)?.map_or(0.0, |path| cosine_i8(&vector, &path));
            row.value = with_path(row.value, f64::from(path));
        }
        near.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.id.cmp(&b.id)));
        near.retain(|row| row.value >= f64::from(COSINE_FLOOR));
        for (rank, row) in (1..).zip(near) {
            let cosine = row.value as f32;
            let signals = self.signals(row);
            signals.knn = signals.knn.or(Some(rank));
            signals.cosine = signals.cosine.or(Some(cosine));
        }
        Ok(())
    }

    /// Returns the signals of a chunk, and makes it a candidate if it is new.
    fn signals(&mut self, row: ChunkRow) -> &mut Signals {
        let index = *self.index.entry(row.id).or_insert_with(|| {
            self.by_path.entry(row.path.clone()).or_default().push(self.candidates.len());
            self.candidates.push(Candidate {
                key: row.id,
                path: row.path.clone(),
                kind: row.kind,
                symbol: row.symbol.clone(),
                title: row.title.clone(),
                lines: row.lines,
                signals: Signals::default(),
            });
            self.rows.insert(row.id, row);
            self.candidates.len() - 1
        });
        &mut self.candidates[index].signals
    }
}

/// Returns the `k` nearest chunks of the view that pass the filter, with their cosine, nearest first; nothing if the vectors
/// are not loaded yet.
///
/// Without a filter, or with one by chunks, nearly all vectors that are let pass belong to the view: if `k` of slightly more
/// than `k` do, no other can be nearer. Otherwise the members are looked up first. Commits are added separately, unless only they are wanted: there are many,
/// written in prose, and they would be nearer to a question than the code.
fn scan(
    reader: &Reader,
    ask: &Ask<'_>,
    vector: &[i8],
    k: usize,
) -> Result<Option<Vec<ChunkRow>>, StoreError> {
    if ask.filter.has_only_chunks() {
        let among = ask.filter.chunks.as_ref();
        let Some(top) = ask.nearest.top(reader, vector, k * SPARE, among)? else { return Ok(None) };
        let has_seen_all = top.len() < k * SPARE;
        let rows = rows_of(reader, ask, &top)?;
        let (commits, mut rows): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.kind == Kind::Commit);
        if rows.len() >= k || has_seen_all {
            rows.truncate(k);
            rows.extend(commits.into_iter().take(k / OTHERS_A_COMMIT));
            return Ok(Some(rows));
        }
    }
    let mut rows = Vec::new();
    for (kinds, k) in kinds_apart(&ask.filter.kinds, k) {
        let filter = Filter { kinds, ..ask.filter.clone() };
        let members: IdSet = reader.member_ids(ask.view, &filter)?.into_iter().collect();
        let Some(top) = ask.nearest.top(reader, vector, k, Some(&members))? else { return Ok(None) };
        rows.extend(rows_of(reader, ask, &top)?);
    }
    Ok(Some(rows))
}

/// Splits the filter into everything but commits, and commits, each with its maximum number.
fn kinds_apart(kinds: &[Kind], k: usize) -> Vec<(Vec<Kind>, usize)> {
    let all = if kinds.is_empty() { &Kind::ALL } else { kinds };
    let (commits, others): (Vec<Kind>, Vec<Kind>) = all.iter().partition(|kind| **kind == Kind::Commit);
    let of_commits = if others.is_empty() { k } else { k / OTHERS_A_COMMIT };
    [(others, k), (commits, of_commits)].into_iter().filter(|(kinds, _)| !kinds.is_empty()).collect()
}

fn rows_of(reader: &Reader, ask: &Ask<'_>, top: &[(ChunkId, f64)]) -> Result<Vec<ChunkRow>, StoreError> {
    let ids: Vec<ChunkId> = top.iter().map(|(id, _)| *id).collect();
    let cosines: HashMap<ChunkId, f64> = top.iter().copied().collect();
    let mut rows = reader.members(ask.view, ask.filter, &ids)?;
    for row in &mut rows {
        row.value = cosines[&row.id];
    }
    rows.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.id.cmp(&b.id)));
    Ok(rows)
}

/// Adds the share of the path to the cosine of a chunk. It is less than the 0.3 for whole code files in
/// models/builtin/README.md, because all chunks of a file share it.
fn with_path(chunk: f64, path: f64) -> f64 {
    0.8 * chunk + 0.2 * path
}
