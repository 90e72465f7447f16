//! Counts the rows of index.db.

use std::collections::BTreeMap;

use memod_base::types::{UnreadableEntry, WorktreeId, is_dir_mode};
use memod_database::DatabaseError;
use memod_proto::Counts;
use rusqlite::params;

use super::index_reader::IndexReader;
use super::index_reader::{IS_FILE, REFUSAL};
use crate::vector_state::{EMBED_FAILED, VECTOR_PENDING};

impl IndexReader {
    /// Returns the counts of contents, chunks and vectors; that of memories is 0.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_rows(&self) -> Result<Counts, DatabaseError> {
        self.run_query(|conn| {
            conn.query_row(
                "SELECT (SELECT count(*) FROM blob WHERE lang != 'commit'), (SELECT count(*) FROM chunk),
                        (SELECT count(*) FROM embedding WHERE model_id = (SELECT value FROM meta WHERE key = 'model'))",
                [],
                |row| {
                    Ok(Counts {
                        blobs: row.get(0)?,
                        chunks: row.get(1)?,
                        embeddings: row.get(2)?,
                        memories: 0,
                    })
                },
            )
        })
    }

    /// Returns the number of refused files of a worktree for each reason.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_refused(&self, view: WorktreeId) -> Result<BTreeMap<String, u64>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT {REFUSAL} AS reason, count(*) FROM entry e LEFT JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND reason IS NOT NULL GROUP BY reason"
            ))?;
            statement.query_map([view.0], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns the paths of a worktree that are not indexed, in order, each with the reason.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_refused(&self, view: WorktreeId) -> Result<Vec<(String, String)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT e.path, {REFUSAL} AS reason FROM entry e LEFT JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND reason IS NOT NULL ORDER BY e.path"
            ))?;
            statement.query_map([view.0], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns the files and directories of a worktree that cannot be read, ordered by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_unreadable(&self, view: WorktreeId) -> Result<Vec<UnreadableEntry>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT path, mode FROM entry INDEXED BY entry_unreadable
                 WHERE view_id = ?1 AND refusal = 'unreadable' ORDER BY path",
            )?;
            let rows = statement.query_map([view.0], |row| {
                let (path, mode): (String, u32) = (row.get(0)?, row.get(1)?);
                Ok(UnreadableEntry { path, is_dir: is_dir_mode(mode) })
            })?;
            rows.collect()
        })
    }

    /// Returns the number of indexed files of a worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn n_files(&self, view: WorktreeId) -> Result<u64, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT count(*) FROM entry e WHERE e.view_id = ?1 AND e.blob_id IS NOT NULL AND {IS_FILE}"
            ))?
            .query_row([view.0], |row| row.get(0))
        })
    }

    /// Returns the number of indexed commits of a worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn n_commits(&self, view: WorktreeId) -> Result<u64, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT count(*) FROM entry e WHERE e.view_id = ?1 AND NOT {IS_FILE}"
            ))?
            .query_row([view.0], |row| row.get(0))
        })
    }

    /// Returns the number of chunks of a worktree.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn n_chunks(&self, view: WorktreeId) -> Result<u64, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT count(*) FROM entry e JOIN chunk c ON c.blob_id = e.blob_id WHERE e.view_id = ?1",
            )?
            .query_row([view.0], |row| row.get(0))
        })
    }

    /// Returns the texts of a worktree on which the model fails, at most `at_most`: for a chunk its path and lines, for a path the
    /// path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_embed_failed(&self, view: WorktreeId, at_most: u32) -> Result<Vec<String>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT e.path || ':' || c.l0 || '-' || c.l1 FROM chunk c INDEXED BY chunk_embed_failed
                 JOIN entry e ON e.blob_id = c.blob_id AND e.view_id = ?1 WHERE c.vec_state = {EMBED_FAILED}
                 UNION ALL
                 SELECT p.path FROM path p INDEXED BY path_embed_failed
                 JOIN entry e ON e.path = p.path AND e.view_id = ?1 WHERE p.vec_state = {EMBED_FAILED}
                 LIMIT ?2"
            ))?
            .query_map(params![view.0, at_most], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the number of chunks of a worktree that wait for a vector, at most `at_most`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_pending_embeddings(&self, view: WorktreeId, at_most: u32) -> Result<u64, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT count(*) FROM (
                     SELECT 1 FROM chunk c INDEXED BY chunk_to_embed WHERE c.vec_state = {VECTOR_PENDING}
                     AND EXISTS (SELECT 1 FROM entry e WHERE e.blob_id = c.blob_id AND e.view_id = ?1) LIMIT ?2)"
            ))?
            .query_row(params![view.0, at_most], |row| row.get(0))
        })
    }
}
