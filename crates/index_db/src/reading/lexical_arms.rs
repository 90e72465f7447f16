//! Runs the lexical arms of a search on index.db.
//!
//! The arms return the matches in all worktrees; the caller selects those of the worktree and the filter before ranking.

use memod_base::types::ChunkId;
use memod_database::{DatabaseError, vector_from_bytes};
use rusqlite::OptionalExtension;

use super::index_reader::IndexReader;
use crate::vector_state::HAS_VECTOR;

impl IndexReader {
    /// Returns the chunks that define a symbol with this name, ignoring case, and whether the case is the same. Chunks that only have
    /// a field or an inner definition of this name are among them only if there are no others.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_by_symbol(&self, name: &str) -> Result<Vec<(ChunkId, bool)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT s.chunk_id, s.name = ?1 COLLATE BINARY,
                     instr(lower(' ' || coalesce(c.symbol, '') || ' '), lower(' ' || ?1 || ' ')) > 0
                 FROM symbol s JOIN chunk c ON c.id = s.chunk_id WHERE s.name = ?1",
            )?;
            let rows =
                statement.query_map([name], |row| Ok((ChunkId(row.get(0)?), row.get(1)?, row.get(2)?)))?;
            let mut found: Vec<(ChunkId, bool, bool)> = rows.collect::<Result<_, _>>()?;
            if found.iter().any(|(_, _, is_own)| *is_own) {
                found.retain(|(_, _, is_own)| *is_own);
            }
            Ok(found.into_iter().map(|(id, is_exact, _)| (id, is_exact)).collect())
        })
    }

    /// Returns the ids of the chunks that have a vector, at most `at_most` of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ids_with_vector(&self, at_most: usize) -> Result<Vec<ChunkId>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!("SELECT id FROM chunk WHERE vec_state = {HAS_VECTOR} LIMIT ?1"))?
                .query_map([at_most], |row| row.get(0).map(ChunkId))?
                .collect()
        })
    }

    /// Calls `visit` with each chunk that has a vector, and the int8 vector as bytes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_vector(&self, mut visit: impl FnMut(ChunkId, &[u8])) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare(&format!(
                "SELECT c.id, e.vec FROM chunk c
                 JOIN meta m ON m.key = 'model'
                 JOIN embedding e ON e.text_hash = c.text_hash AND e.model_id = m.value
                 WHERE c.vec_state = {HAS_VECTOR}"
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(ChunkId(row.get(0)?), row.get_ref(1)?.as_blob().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Returns the int8 vector of a path, if it has one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn path_vector(&self, path: &str) -> Result<Option<Vec<i8>>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached("SELECT vec FROM path WHERE path = ?1 AND vec IS NOT NULL")?
                .query_row([path], |row| Ok(vector_from_bytes(row.get_ref(0)?.as_blob()?)))
                .optional()
        })
    }

    /// Returns the number of chunks with each of these terms, without terms that no chunk has, and the approximate number of all
    /// chunks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_chunks_per_term(
        &self,
        terms: &[String],
    ) -> Result<(Vec<(String, u64)>, u64), DatabaseError> {
        let postings = self.read_postings()?;
        let mut counts = Vec::new();
        for term in terms {
            let n_chunks = postings.count_chunks_with_term(term)?;
            counts.extend((n_chunks > 0).then(|| (term.clone(), n_chunks)));
        }
        // Counting the rows would read all of them.
        let all: Option<u64> =
            self.run_query(|conn| conn.query_row("SELECT max(id) FROM chunk", [], |row| row.get(0)))?;
        Ok((counts, all.unwrap_or(0)))
    }
}
