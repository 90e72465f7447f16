//! Runs the lexical arms of a search on index.db.
//!
//! They return what matches in any worktree; whoever ranks it first looks up what the view and the filter admit.

use rusqlite::OptionalExtension;

use super::{Reader, StoreError, as_vector};
use crate::types::ChunkId;

/// Weights of symbol, title and body in BM25.
const COLUMN_WEIGHTS: &str = "4, 2, 1";

impl Reader {
    /// Calls `see` with each chunk that has some phrase of an expression, by id, and how often it has each.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn phrase_counts(
        &self,
        expression: &str,
        mut see: impl FnMut(ChunkId, &[u8]),
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT rowid, term_counts(chunk_fts, {COLUMN_WEIGHTS}) FROM chunk_fts
                 WHERE chunk_fts MATCH ?1 ORDER BY rowid"
            ))?;
            let mut rows = statement.query([expression])?;
            while let Some(row) = rows.next()? {
                see(ChunkId(row.get(0)?), row.get_ref(1)?.as_blob()?);
            }
            Ok(())
        })
    }

    /// Returns the paths of all views whose words match an expression, with their BM25: larger is better.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn by_path(&self, expression: &str) -> Result<Vec<(f64, String)>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT -bm25(path_fts), p.path FROM path_fts f CROSS JOIN path p ON p.id = f.rowid
                 WHERE f.path_fts MATCH ?1",
            )?
            .query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }

    /// Returns the chunks that define a symbol with this name, ignoring case, and whether the case is the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn by_symbol(&self, name: &str) -> Result<Vec<(ChunkId, bool)>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT chunk_id, name = ?1 COLLATE BINARY FROM symbol WHERE name = ?1")?
                .query_map([name], |row| Ok((ChunkId(row.get(0)?), row.get(1)?)))?
                .collect()
        })
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
