//! Runs the lexical arms of a search on index.db.
//!
//! Every arm filters by view, kind, language and path inside its top-k, never after it: hits of another worktree must not
//! crowd out those of this one.

use std::collections::HashSet;

use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;

use super::filter::{Filter, within, within_globs};
use super::{Reader, StoreError, as_vector};
use crate::types::{ChunkId, Kind, ViewId};

/// A chunk at a path of a view. Of several paths with the same content, only the first.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkRow {
    /// Its id.
    pub id: ChunkId,
    /// Worktree-relative path.
    pub path: String,
    /// blake3 of the file's bytes.
    pub hash: [u8; 32],
    /// What it is a part of.
    pub kind: Kind,
    /// Format name; `""` where unknown.
    pub lang: String,
    /// Byte span.
    pub bytes: (usize, usize),
    /// Lines, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Names defined, joined by spaces.
    pub symbol: Option<String>,
    /// Heading path or qualified name.
    pub title: Option<String>,
    /// Paths of the view with this content.
    pub n_copies: usize,
    /// The value of the arm: `bm25` (smaller is better) or cosine; 0 if it has none.
    pub value: f64,
}

/// Number of other rows for each commit in an arm. The messages of two thousand commits name everything that was worked
/// on; without a limit they could fill an arm and push out the code itself.
pub const OTHERS_A_COMMIT: usize = 5;

/// Weights of symbol, title and body in BM25.
const COLUMN_WEIGHTS: &str = "4.0, 2.0, 1.0";

pub(super) const COLUMNS: &str =
    "c.id, e.path, b.hash, c.kind, b.lang, c.b0, c.b1, c.l0, c.l1, c.symbol, c.title,
    (SELECT count(*) FROM entry f WHERE f.blob_id = b.id AND f.view_id = ?1)";

/// Returns the condition on the first path within the globs that a blob `b` has, so that copies take one place in an arm.
fn first_copy() -> String {
    let globs = within_globs("f.path");
    format!(
        "e.view_id = ?1 AND e.path = (SELECT min(f.path) FROM entry f
         WHERE f.blob_id = b.id AND f.view_id = ?1 AND {globs})"
    )
}

/// Number of paths that a path arm reads for each path that it returns, because others may be copies.
const PATHS_A_PLACE: usize = 16;

/// Most paths of one content that are compared with a query.
const MOST_COPIES: usize = 10_000;

impl Reader {
    /// Returns the best chunks by BM25, best first and then by age.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn bm25(
        &self,
        view: ViewId,
        filter: &Filter,
        expression: &str,
        k: usize,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        // Not `ORDER BY rank`: that makes FTS5 sort all matches, each with its positions.
        let ranked: Vec<(f64, i64)> = self.ranked(
            &format!(
                "SELECT bm25(chunk_fts, {COLUMN_WEIGHTS}), rowid FROM chunk_fts WHERE chunk_fts MATCH ?1"
            ),
            expression,
        )?;
        let mut room = ArmQuota::new(filter, k);
        let n_batch = k + k / OTHERS_A_COMMIT + 1;
        self.best(&rows_of_ids(), view, filter, ranked, n_batch, |row| room.take(row.kind))
    }

    /// Returns the first chunk of each of the files whose path words match best, best first and then by path. Of copies only
    /// the best path counts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn by_path(
        &self,
        view: ViewId,
        filter: &Filter,
        expression: &str,
        k: usize,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        let ranked: Vec<(f64, String)> = self.ranked(
            "SELECT f.rank, p.path FROM path_fts f CROSS JOIN path p ON p.id = f.rowid WHERE f.path_fts MATCH ?1",
            expression,
        )?;
        let within = within();
        let sql = format!(
            "SELECT {COLUMNS}, wanted.key FROM json_each(?5) wanted
             CROSS JOIN entry e ON e.view_id = ?1 AND e.path = wanted.value
             CROSS JOIN blob b ON b.id = e.blob_id
             CROSS JOIN chunk c ON c.blob_id = b.id
             WHERE {within}
               AND c.ord = (SELECT min(first.ord) FROM chunk first WHERE first.blob_id = b.id
                            AND (?2 IS NULL OR first.kind IN (SELECT value FROM json_each(?2)))
                            AND (?8 IS NULL OR has_id(?8, first.id)))"
        );
        let mut seen = HashSet::new();
        let mut looked_at = 0..k * PATHS_A_PLACE;
        self.best(&sql, view, filter, ranked, k + 1, |row| match looked_at.next() {
            Some(_) if seen.contains(&row.id) => Take::Another,
            Some(_) if seen.len() < k => {
                seen.insert(row.id);
                Take::It
            }
            _ => Take::NoMore,
        })
    }

    /// Returns the chunks that define a symbol with this name, ignoring case.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn by_symbol(
        &self,
        view: ViewId,
        filter: &Filter,
        name: &str,
        k: usize,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        let (first_copy, within) = (first_copy(), within());
        let sql = format!(
            "SELECT {COLUMNS}, 0.0 FROM symbol s
             CROSS JOIN chunk c ON c.id = s.chunk_id
             CROSS JOIN blob b ON b.id = c.blob_id
             CROSS JOIN entry e ON {first_copy}
             WHERE s.name = ?5 AND {within}
             ORDER BY s.name = ?5 COLLATE BINARY DESC, c.kind = 'symbol' DESC, e.path, c.ord LIMIT {k}"
        );
        self.arm(&sql, view, filter, name)
    }

    /// Returns those of `ids` that are in the view and pass the filter, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn members(
        &self,
        view: ViewId,
        filter: &Filter,
        ids: &[ChunkId],
    ) -> Result<Vec<ChunkRow>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let json = serde_json::json!(ids).to_string();
        self.arm(&rows_of_ids(), view, filter, &json)
    }

    /// Returns the paths of a view, within the filter, that have the content of a chunk, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn copies(&self, view: ViewId, filter: &Filter, chunk: ChunkId) -> Result<Vec<String>, StoreError> {
        let within = within();
        let sql = format!(
            "SELECT e.path FROM chunk c CROSS JOIN blob b ON b.id = c.blob_id
             CROSS JOIN entry e ON e.blob_id = c.blob_id AND e.view_id = ?1
             WHERE c.id = ?5 AND {within} ORDER BY e.path LIMIT {MOST_COPIES}"
        );
        let id = chunk.0.to_string();
        self.run(|conn| {
            let mut statement = conn.prepare_cached(&sql)?;
            statement.query_map(filter.params(view, &id), |row| row.get(0))?.collect()
        })
    }

    /// Returns the matches of an expression as pairs of value, smaller being better, and key.
    fn ranked<K: FromSql>(&self, sql: &str, expression: &str) -> Result<Vec<(f64, K)>, StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Looks up the best of `ranked` in [`batches`] until `take` has enough. `sql` returns the rows for the keys in the
    /// array ?5, in its order, with the index of the key as value.
    fn best<K: Ord + Serialize>(
        &self,
        sql: &str,
        view: ViewId,
        filter: &Filter,
        mut ranked: Vec<(f64, K)>,
        n_batch: usize,
        mut take: impl FnMut(&ChunkRow) -> Take,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        let mut best = Vec::new();
        for batch in batches(&mut ranked, n_batch) {
            let keys: Vec<&K> = batch.iter().map(|(_, key)| key).collect();
            let keys = serde_json::json!(keys).to_string();
            for mut row in self.arm(sql, view, filter, &keys)? {
                row.value = batch[row.value as usize].0;
                match take(&row) {
                    Take::It => best.push(row),
                    Take::Another => {}
                    Take::NoMore => return Ok(best),
                }
            }
        }
        Ok(best)
    }

    /// Returns the ids of the chunks that have a vector, at most `at_most` of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ids_with_vector(&self, at_most: usize) -> Result<Vec<ChunkId>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT id FROM chunk WHERE vec_state = 1 LIMIT ?1")?
                .query_map([at_most], |row| row.get(0).map(ChunkId))?
                .collect()
        })
    }

    /// Calls `see` with every chunk's vector.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_vector(&self, mut see: impl FnMut(ChunkId, &[u8])) -> Result<(), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare(
                "SELECT c.id, e.vec FROM chunk c
                 JOIN meta m ON m.key = 'model'
                 JOIN embedding e ON e.text_hash = c.text_hash AND e.model_id = m.value
                 WHERE c.vec_state = 1",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                see(ChunkId(row.get(0)?), row.get_ref(1)?.as_blob().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Runs a statement whose ?5 is the query.
    pub(super) fn arm(
        &self,
        sql: &str,
        view: ViewId,
        filter: &Filter,
        query: &str,
    ) -> Result<Vec<ChunkRow>, StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            statement.query_map(filter.params(view, query), chunk_row)?.collect()
        })
    }

    /// Returns the int8 vector of a path, if it has one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn path_vector(&self, path: &str) -> Result<Option<Vec<i8>>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT vec FROM path WHERE path = ?1 AND vec IS NOT NULL")?
                .query_row([path], |row| Ok(as_vector(row.get_ref(0)?.as_blob()?)))
                .optional()
        })
    }

    /// Returns whether a term is indexed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_term(&self, term: &str) -> Result<bool, StoreError> {
        self.run(|conn| conn.prepare_cached("SELECT 1 FROM chunk_vocab WHERE term = ?1")?.exists([term]))
    }

    /// Returns the number of chunks with each of these terms, those that no chunk has left out, and about how many chunks
    /// there are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn term_counts(&self, terms: &[String]) -> Result<(Vec<(String, u64)>, u64), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached("SELECT doc FROM chunk_vocab WHERE term = ?1")?;
            let mut counts = Vec::new();
            for term in terms {
                let count = statement.query_row([term], |row| row.get(0)).optional()?;
                counts.extend(count.map(|count| (term.clone(), count)));
            }
            // Counting rows would read all of them.
            let all: Option<u64> = conn.query_row("SELECT max(id) FROM chunk", [], |row| row.get(0))?;
            Ok((counts, all.unwrap_or(0)))
        })
    }

    /// Calls `see` with every indexed term and its number of chunks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_term(&self, mut see: impl FnMut(&str, u64)) -> Result<(), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached("SELECT term, doc FROM chunk_vocab")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                see(row.get_ref(0)?.as_str().unwrap_or_default(), row.get(1)?);
            }
            Ok(())
        })
    }
}

/// Yields the ranked items in ascending order, then by key, in batches that grow from `n_batch`, so that only requested
/// items are sorted.
pub(super) fn batches<K: Ord>(
    mut rest: &mut [(f64, K)],
    mut n_batch: usize,
) -> impl Iterator<Item = &[(f64, K)]> {
    let order = |a: &(f64, K), b: &(f64, K)| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1));
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        n_batch = n_batch.clamp(1, rest.len());
        rest.select_nth_unstable_by(n_batch - 1, order);
        let (batch, later) = std::mem::take(&mut rest).split_at_mut(n_batch);
        batch.sort_unstable_by(order);
        (rest, n_batch) = (later, 2 * n_batch);
        Some(&*batch)
    })
}

/// What to do with a row.
enum Take {
    It,
    Another,
    NoMore,
}

/// The number of rows that an arm may still return.
struct ArmQuota {
    others: usize,
    commits: usize,
    /// Whether only commits are wanted.
    only_commits: bool,
}

impl ArmQuota {
    fn new(filter: &Filter, k: usize) -> Self {
        let only_commits = filter.kinds == [Kind::Commit];
        Self { others: k, commits: if only_commits { k } else { k / OTHERS_A_COMMIT }, only_commits }
    }

    fn take(&mut self, kind: Kind) -> Take {
        let room = if kind == Kind::Commit { &mut self.commits } else { &mut self.others };
        if let Some(left) = room.checked_sub(1) {
            *room = left;
            return Take::It;
        }
        if kind == Kind::Commit && !self.only_commits { Take::Another } else { Take::NoMore }
    }
}

/// Returns the statement for the rows of the chunks whose ids are in the array ?5.
fn rows_of_ids() -> String {
    let (first_copy, within) = (first_copy(), within());
    format!(
        "SELECT {COLUMNS}, wanted.key FROM json_each(?5) wanted
         CROSS JOIN chunk c ON c.id = wanted.value
         CROSS JOIN blob b ON b.id = c.blob_id
         CROSS JOIN entry e ON {first_copy}
         WHERE {within}"
    )
}

fn chunk_row(row: &Row<'_>) -> rusqlite::Result<ChunkRow> {
    let kind: String = row.get(3)?;
    Ok(ChunkRow {
        id: ChunkId(row.get(0)?),
        path: row.get(1)?,
        hash: row.get(2)?,
        kind: Kind::parse(&kind).unwrap_or(Kind::Text),
        lang: row.get(4)?,
        bytes: (row.get::<_, i64>(5)? as usize, row.get::<_, i64>(6)? as usize),
        lines: (row.get(7)?, row.get(8)?),
        symbol: row.get(9)?,
        title: row.get(10)?,
        n_copies: row.get(11)?,
        value: row.get(12)?,
    })
}
