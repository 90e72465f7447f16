//! Runs the arms of a search on one snapshot.
//!
//! Every arm admits what the view and the filter do inside its top-k, never after it: hits of another worktree must not crowd
//! out those of this one.

use std::collections::HashSet;

use super::SPARE;
use super::bm25::{self, PhraseCounts};
use super::correction::lower;
use super::filter::Filter;
use super::fuse::{COSINE_FLOOR, Signals};
use super::listing::list;
use super::pool::Pool;
use super::query::Query;
use super::ranked::Ranked;
use super::rerank::{self, Candidate};
use super::restriction::{Conditions, restricted};
use super::shared_vectors::SharedVectors;
use super::view_chunks::{Members, ViewChunk, ViewChunks};
use crate::embed::{Embedder, cosine_i8, quantize};
use crate::proto::Mode;
use crate::store::{Reader, StoreError};
use crate::types::{ChunkId, Kind, ViewId};

/// Number of other chunks for each commit in an arm. The messages of two thousand commits name everything that was worked
/// on; without a limit they could fill an arm and push out the code itself.
const OTHERS_A_COMMIT: usize = 5;

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
    /// Hits wanted.
    pub limit: usize,
    /// The model, or the error.
    pub embedder: Result<&'a dyn Embedder, &'a str>,
    /// All vectors.
    pub nearest: &'a SharedVectors,
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
pub fn run(reader: &Reader, ask: &Ask<'_>) -> Result<Answer, StoreError> {
    let query = ask.query;
    let filter = restricted(reader, ask.view, ask.filter, query, ask.conditions)?;
    let members = &ask.chunks.within(&filter);
    let mut pool = Pool::default();
    let mut degraded = Vec::new();
    let k = super::candidates(ask.limit);
    if ask.mode != Mode::Vector {
        add_names(&mut pool, reader, ask, members, k)?;
        add_words(&mut pool, reader, ask, members, k)?;
        add_paths(&mut pool, reader, ask, members, k)?;
    }
    if ask.mode != Mode::Keyword {
        match ask.embedder {
            Ok(embedder) => add_nearest(&mut pool, reader, ask, members, embedder, k, &mut degraded)?,
            Err(why) => degraded.push(format!("knn: {why}")),
        }
    }
    let lists = query.words().is_empty() && !query.filters().is_empty() && pool.is_empty();
    if lists {
        list(reader, ask.view, members, k)?.into_iter().for_each(|chunk| pool.add(chunk));
    }
    let candidates = pool.candidates(reader, members, query)?;
    let ranked = if lists { Ranked::unranked(candidates) } else { rerank::rank(query, candidates) };
    let found = ranked.into_iter().map(|ranked| found(reader, members, ranked)).collect::<Result<_, _>>()?;
    Ok(Answer { found, query: query.clone(), degraded })
}

fn found(reader: &Reader, members: &Members<'_>, ranked: Ranked<Candidate>) -> Result<Found, StoreError> {
    let Candidate { key, kind, content, bytes, .. } = ranked.candidate;
    let text = if kind == Kind::Commit { reader.own_text(key)? } else { None };
    Ok(Found { bytes, hash: members.view.content(content).hash, text, ranked })
}

/// Adds the definitions of the names in a query.
fn add_names(
    pool: &mut Pool,
    reader: &Reader,
    ask: &Ask<'_>,
    members: &Members<'_>,
    k: usize,
) -> Result<(), StoreError> {
    let names = match ask.query.words() {
        [] => &ask.conditions.own_names(),
        _ => ask.query.symbols(),
    };
    for (rank, name) in (1..).zip(names) {
        let found = reader.by_symbol(name)?.into_iter();
        let mut found: Vec<_> =
            found.filter_map(|(id, is_exact)| Some((is_exact, *members.get(id)?))).collect();
        found.sort_by_key(|(is_exact, chunk)| {
            (!is_exact, chunk.chunk.kind != Kind::Symbol, chunk.content, chunk.chunk.id)
        });
        found.truncate(k);
        found.iter().for_each(|(_, chunk)| pool.add_name(chunk, rank));
    }
    Ok(())
}

/// Adds the chunks whose words match best, and what their files as a whole say.
fn add_words(
    pool: &mut Pool,
    reader: &Reader,
    ask: &Ask<'_>,
    members: &Members<'_>,
    k: usize,
) -> Result<(), StoreError> {
    let phrases = ask.query.phrases();
    let Some(expression) = phrases.expression() else { return Ok(()) };
    let mut counts = PhraseCounts::new(members, phrases.word_of.len());
    reader.phrase_counts(&expression, |id, row| counts.add(id, row))?;
    let mut scores = bm25::score(&counts, &phrases.word_of);
    for (rank, scored) in (1..).zip(best(std::mem::take(&mut scores.chunks), members, k)) {
        pool.add_words(&scored.chunk, rank, scored.bm25);
    }
    pool.set_files(scores);
    Ok(())
}

/// Returns the best `k` chunks and some commits, best first and then by age.
fn best(chunks: Vec<bm25::Scored>, members: &Members<'_>, k: usize) -> Vec<bm25::Scored> {
    let order = |a: &bm25::Scored, b: &bm25::Scored| {
        b.bm25.total_cmp(&a.bm25).then_with(|| a.chunk.chunk.id.cmp(&b.chunk.chunk.id))
    };
    let is_commit = |scored: &bm25::Scored| scored.chunk.chunk.kind == Kind::Commit;
    let n_commits = if members.are_commits() { k } else { k / OTHERS_A_COMMIT };
    let (mut commits, mut others): (Vec<bm25::Scored>, Vec<_>) = chunks.into_iter().partition(is_commit);
    for (list, most) in [(&mut commits, n_commits), (&mut others, k)] {
        if list.len() > most {
            list.select_nth_unstable_by(most, order);
            list.truncate(most);
        }
    }
    others.append(&mut commits);
    others.sort_unstable_by(order);
    others
}

/// Adds the files whose path words match best; of copies only the best path counts.
fn add_paths(
    pool: &mut Pool,
    reader: &Reader,
    ask: &Ask<'_>,
    members: &Members<'_>,
    k: usize,
) -> Result<(), StoreError> {
    let Some(expression) = ask.query.phrases().expression() else { return Ok(()) };
    let mut found: Vec<(f64, String, &ViewChunk)> = reader
        .by_path(&expression)?
        .into_iter()
        .filter_map(|(bm25, path)| members.first_at(&path).map(|chunk| (bm25, path, chunk)))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut rank = 0;
    for (bm25, _, chunk) in found {
        if rank == k {
            break;
        }
        rank += usize::from(pool.add_path(chunk, rank as u32 + 1, bm25));
    }
    Ok(())
}

fn add_nearest(
    pool: &mut Pool,
    reader: &Reader,
    ask: &Ask<'_>,
    members: &Members<'_>,
    embedder: &dyn Embedder,
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
    let Some(top) = scan(reader, ask, members, &vector, k)? else {
        degraded.push("knn: vectors loading".to_owned());
        return Ok(());
    };
    let mut near = Vec::with_capacity(top.len());
    for (chunk, cosine) in top {
        // The key of a commit says nothing.
        let path = match members.first_path(chunk.content).filter(|_| chunk.chunk.kind != Kind::Commit) {
            Some(path) => reader.path_vector(path)?.map_or(0.0, |path| cosine_i8(&vector, &path)),
            None => cosine as f32,
        };
        near.push((chunk, with_path(cosine, f64::from(path))));
    }
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.chunk.id.cmp(&b.0.chunk.id)));
    near.retain(|(_, cosine)| *cosine >= f64::from(COSINE_FLOOR));
    for (rank, (chunk, cosine)) in (1..).zip(near) {
        pool.add_near(chunk, rank, cosine as f32);
    }
    Ok(())
}

/// Returns the `k` nearest admitted chunks with their cosine; nothing if the vectors are not loaded yet.
///
/// Without a filter, or with one by chunks, nearly all vectors that are let pass belong to the view: if `k` of slightly more
/// than `k` do, no other can be nearer. Otherwise the ids of the members are listed first. Commits are added separately,
/// unless only they are wanted: there are many, written in prose, and they would be nearer to a question than the code.
fn scan<'a>(
    reader: &Reader,
    ask: &Ask<'_>,
    members: &'a Members<'_>,
    vector: &[i8],
    k: usize,
) -> Result<Option<Vec<(&'a ViewChunk, f64)>>, StoreError> {
    let rows = |top: Vec<(ChunkId, f64)>| {
        top.into_iter().filter_map(|(id, cosine)| Some((members.get(id)?, cosine)))
    };
    let is_commit = |kind| kind == Kind::Commit;
    let n_commits = if members.are_commits() { k } else { k / OTHERS_A_COMMIT };
    if members.are_all_or_listed() {
        let Some(top) = ask.nearest.top(reader, vector, k * SPARE, members.listed())? else {
            return Ok(None);
        };
        let has_seen_all = top.len() < k * SPARE;
        let (commits, mut others): (Vec<_>, Vec<_>) =
            rows(top).partition(|(chunk, _)| is_commit(chunk.chunk.kind));
        if others.len() >= k || has_seen_all {
            others.truncate(k);
            others.extend(commits.into_iter().take(n_commits));
            return Ok(Some(others));
        }
    }
    let mut found = Vec::new();
    for (of_commits, k) in [(false, k), (true, n_commits)] {
        let ids = members.ids(|kind| is_commit(kind) == of_commits);
        let Some(top) = ask.nearest.top(reader, vector, k, Some(&ids))? else { return Ok(None) };
        found.extend(rows(top));
    }
    Ok(Some(found))
}

/// Adds the share of the path to the cosine of a chunk. It is less than the 0.3 for whole code files in
/// models/builtin/README.md, because all chunks of a file share it.
fn with_path(chunk: f64, path: f64) -> f64 {
    0.8 * chunk + 0.2 * path
}
