//! Runs the queries of a search on memory.db.
//!
//! Every query applies the filter before it takes the best `k`, never after. Memories that have expired by the time of the request
//! are left out.

use std::cmp::Reverse;
use std::collections::HashSet;

use memod_base::types::{Expression, MemoryRow, Phrase};
use memod_database::DatabaseError;
use memod_proto::memory::Tier;
use rusqlite::{params, params_from_iter};

use crate::access::row_access::row_handle;
use crate::memory_tables::memory_filter::MemoryFilter;
use crate::memory_tables::record_rows::rows_to_json;
use crate::search_arms::word_rows::WordRows;

/// Weights of title, tags and content in BM25.
const COLUMN_WEIGHTS: &str = "2.0, 1.5, 1.0";

row_handle! {
    /// The queries of a search.
    pub struct SearchRows { words: WordRows }
}

/// The fields of a memory that affect its rank besides the match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankingFacts {
    /// Number of the memory's row; memories that are written one after another have consecutive numbers.
    pub row: MemoryRow,
    /// Id of the memory.
    pub id: String,
    /// Priority, 1 to 10.
    pub priority: u8,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Tier of the memory.
    pub tier: Tier,
    /// Container of the memory.
    pub container: String,
    /// Creation time, unix ms.
    pub created: i64,
    /// Time of the last change, unix ms.
    pub updated: i64,
    /// Time of the last recall, unix ms.
    pub last_access: Option<i64>,
    /// Number of recalls.
    pub access_count: u64,
    /// Ids of the living memories that supersede this memory.
    pub successors: Vec<String>,
}

impl SearchRows<'_> {
    /// Returns the best `k` of the selected memories by BM25 as [`Self::rank_by_bm25`] does, but leaves out words that more than
    /// half of the memories have. The order differs only between memories whose scores differ only by such words.
    ///
    /// FTS5 gives a word that more than half of the texts have an idf of 1e-6, but would still rank each text that has the word,
    /// which takes 0.2 s for 100,000 texts. The words are not left out if the other words find fewer than `k` memories.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn rank_by_rarer_words(
        &self,
        filter: &MemoryFilter,
        expression: &Expression,
        k: usize,
    ) -> Result<Vec<(MemoryRow, f64)>, DatabaseError> {
        if let Some(rarer) = self.without_common_words(expression)? {
            let found = self.rank_by_bm25(filter, &rarer.to_string(), k)?;
            if found.len() == k {
                return Ok(found);
            }
        }
        self.rank_by_bm25(filter, &expression.to_string(), k)
    }

    /// Returns an expression without the words that more than half of the memories have; `None` if there are no such words, or no
    /// others.
    fn without_common_words(&self, expression: &Expression) -> Result<Option<Expression>, DatabaseError> {
        let Expression::Any(parts) = expression else { return Ok(None) };
        let n_memories = self.words().estimate_memory_count()?;
        let mut rarer = Vec::new();
        for part in parts {
            let is_common = match part {
                Expression::Phrase(Phrase { tokens, is_prefix: false }) if !tokens.contains(' ') => {
                    2 * self.words().count_memories_with_term(tokens)? > n_memories
                }
                _ => false,
            };
            if !is_common {
                rarer.push(part.clone());
            }
        }
        Ok((!rarer.is_empty() && rarer.len() < parts.len()).then_some(Expression::Any(rarer)))
    }

    /// Returns the best `k` of the selected memories with their BM25, where smaller is better: best first, and newer memories first
    /// among equals.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn rank_by_bm25(
        &self,
        filter: &MemoryFilter,
        expression: &str,
        k: usize,
    ) -> Result<Vec<(MemoryRow, f64)>, DatabaseError> {
        // Not `ORDER BY rank`, which would make FTS5 sort all matches, each with its positions.
        let mut ranked: Vec<(f64, Reverse<i64>)> = self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT bm25(memory_fts, {COLUMN_WEIGHTS}), rowid FROM memory_fts WHERE memory_fts MATCH ?1"
            ))?
            .query_map([expression], |row| Ok((row.get(0)?, Reverse(row.get(1)?))))?
            .collect()
        })?;
        let mut best = Vec::new();
        for batch in sorted_batches(&mut ranked, 2 * k) {
            if best.len() >= k {
                break;
            }
            let rows: Vec<MemoryRow> = batch.iter().map(|(_, row)| MemoryRow(row.0)).collect();
            let selected: HashSet<MemoryRow> = self.select_rows(filter, Some(&rows))?.into_iter().collect();
            let ranked_batch = batch.iter().map(|(bm25, row)| (MemoryRow(row.0), *bm25));
            best.extend(ranked_batch.filter(|(row, _)| selected.contains(row)));
        }
        best.truncate(k);
        Ok(best)
    }

    /// Returns the row numbers of the selected memories, or only of those among `rows`, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn select_rows(
        &self,
        filter: &MemoryFilter,
        rows: Option<&[MemoryRow]>,
    ) -> Result<Vec<MemoryRow>, DatabaseError> {
        let (condition, mut values) = filter.sql_condition(self.access.now_ms());
        let sql = match rows {
            None => format!("SELECT m.row FROM memory m WHERE {condition}"),
            Some(rows) => {
                values.push(rows_to_json(rows).into());
                let n = values.len();
                format!(
                    "SELECT m.row FROM json_each(?{n}) w CROSS JOIN memory m ON m.row = w.value WHERE {condition}"
                )
            }
        };
        self.access.run(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params_from_iter(values), |row| row.get(0).map(MemoryRow))?
                .collect()
        })
    }

    /// Returns the fields for ranking of the memories in these rows, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ranking_facts(&self, rows: &[MemoryRow]) -> Result<Vec<RankingFacts>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.row, p.id, m.priority, m.confidence, m.tier, m.updated, p.last_access, p.access_count,
                     (SELECT group_concat(s.id) FROM link l JOIN memory s ON s.row = l.source
                      WHERE l.target = p.row AND l.kind = 'supersedes' AND s.archived_at IS NULL
                          AND (s.expires_at IS NULL OR s.expires_at > ?2)
                          AND (s.shared != 1 OR memod_worktree() = 0 OR EXISTS (
                              SELECT 1 FROM memory_file f JOIN memory v ON v.row = f.memory
                              WHERE f.worktree = memod_worktree() AND s.row IN (v.row, v.main)))),
                     m.container, m.created
                 FROM json_each(?1) w CROSS JOIN memory m ON m.row = w.value
                 CROSS JOIN memory p ON p.row = coalesce(m.main, m.row)",
            )?
            .query_map(params![rows_to_json(rows), self.access.now_ms()], |row| {
                let tier: String = row.get(4)?;
                let successors: Option<String> = row.get(8)?;
                Ok(RankingFacts {
                    row: MemoryRow(row.get(0)?),
                    id: row.get(1)?,
                    priority: row.get(2)?,
                    confidence: row.get(3)?,
                    tier: Tier::parse(&tier).unwrap_or_default(),
                    updated: row.get(5)?,
                    last_access: row.get(6)?,
                    access_count: row.get(7)?,
                    container: row.get(9)?,
                    created: row.get(10)?,
                    successors: successors.iter().flat_map(|ids| ids.split(',')).map(str::to_owned).collect(),
                })
            })?
            .collect()
        })
    }

    /// Returns title, tags and content of the memories in these rows, each memory as one text, in no order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_texts(&self, rows: &[MemoryRow]) -> Result<Vec<(MemoryRow, String)>, DatabaseError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.row, concat_ws(' ', m.title,
                     (SELECT group_concat(t.tag, ' ') FROM tag t WHERE t.memory = m.row), m.content)
                 FROM json_each(?1) w CROSS JOIN memory m ON m.row = w.value",
            )?
            .query_map([rows_to_json(rows)], |row| Ok((MemoryRow(row.get(0)?), row.get(1)?)))?
            .collect()
        })
    }
}

/// Yields ranked items in ascending order of their value and then of their key, in batches. The first batch has `n_batch` items,
/// and each next one twice as many, so that only requested items are sorted.
fn sorted_batches<K: Ord>(
    mut rest: &mut [(f64, K)],
    mut n_batch: usize,
) -> impl Iterator<Item = &[(f64, K)]> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        n_batch = n_batch.clamp(1, rest.len());
        rest.select_nth_unstable_by(n_batch - 1, compare_ranked);
        let (batch, later) = std::mem::take(&mut rest).split_at_mut(n_batch);
        batch.sort_unstable_by(compare_ranked);
        (rest, n_batch) = (later, 2 * n_batch);
        Some(&*batch)
    })
}

/// Compares two ranked items by their value, and then by their key.
fn compare_ranked<K: Ord>(one: &(f64, K), other: &(f64, K)) -> std::cmp::Ordering {
    one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryDb;

    #[test]
    fn words_of_most_memories_are_left_out_unless_they_are_needed() {
        let dir = tempfile::tempdir().unwrap();
        let (db, _) = MemoryDb::open(&dir.path().join("memory.db"), |_, _| Ok(())).unwrap();
        // All have `cache`, which is common; 30 have `rare`, some of them several times.
        db.conn
            .execute_batch(
                "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
                 INSERT INTO memory(row, id, content, container, tier, priority, confidence, source, author, created, updated,
                     access_count, metadata, hash)
                 SELECT n, 'mem_' || n, '', 'repo', 'long', 5, 1.0, 'cli', 'x', n, n, 0, '{}', CAST(n AS BLOB) FROM n;
                 INSERT INTO memory_fts(rowid, title, tags, body)
                 SELECT row, '', '', 'cache ' || CASE WHEN row <= 30 THEN replace(hex(zeroblob(1 + row % 7)), '00', ' rare') ELSE '' END
                 FROM memory;",
            )
            .unwrap();
        let phrase = |word: &str| Expression::Phrase(Phrase { tokens: word.to_owned(), is_prefix: false });
        let any = |words: &[&str]| Expression::Any(words.iter().map(|word| phrase(word)).collect());
        let filter = MemoryFilter::default();
        db.read(0, |rows| {
            let both = any(&["cache", "rare"]);
            assert_eq!(rows.search().without_common_words(&both)?, Some(any(&["rare"])));
            assert_eq!(rows.search().without_common_words(&any(&["cache"]))?, None, "nothing would be left");
            assert_eq!(
                rows.search()
                    .without_common_words(&Expression::All(vec![phrase("cache"), phrase("rare")]))?,
                None
            );
            for k in [5, 30, 60] {
                let order =
                    |found: Vec<(MemoryRow, f64)>| found.into_iter().map(|(row, _)| row).collect::<Vec<_>>();
                let found = order(rows.search().rank_by_rarer_words(&filter, &both, k)?);
                assert_eq!(found.len(), k);
                assert_eq!(found, order(rows.search().rank_by_bm25(&filter, &both.to_string(), k)?));
            }
            Ok::<(), DatabaseError>(())
        })
        .unwrap();
    }
}
