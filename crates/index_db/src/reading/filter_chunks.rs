//! Finds the chunks that operators of a query and filters by name, date and author select.

use memod_base::types::{ChunkId, IdSet, WorktreeId};
use memod_database::DatabaseError;

use super::index_reader::IndexReader;

impl IndexReader {
    /// Returns the ids of all chunks of all worktrees, and of some deleted ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_chunk_ids(&self) -> Result<IdSet, DatabaseError> {
        self.run_query(|conn| {
            let last: Option<i64> = conn.query_row("SELECT max(id) FROM chunk", [], |row| row.get(0))?;
            Ok(IdSet::with_ids_up_to(last.unwrap_or(0)))
        })
    }

    /// Returns the chunks of all worktrees that define a symbol with this name, ignoring case, with their titles.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_definitions_named(&self, name: &str) -> Result<Vec<(ChunkId, String)>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT s.chunk_id, coalesce(c.title, '') FROM symbol s JOIN chunk c ON c.id = s.chunk_id
                 WHERE s.name = ?1",
            )?
            .query_map([name], |row| Ok((ChunkId(row.get(0)?), row.get(1)?)))?
            .collect()
        })
    }

    /// Calls `visit` with each name of a definition in any worktree. A name comes several times if several chunks define it; these
    /// are one after another.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_defined_name(&self, mut visit: impl FnMut(&str)) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached("SELECT name FROM symbol ORDER BY name")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Calls `visit` with the chunk of each commit of a worktree and the first line of its text: id, date and author.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_commit(
        &self,
        view: WorktreeId,
        mut visit: impl FnMut(ChunkId, &str),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT c.id, substr(c.text, 1, instr(c.text, char(10)) - 1) FROM entry e
                 CROSS JOIN blob b ON b.id = e.blob_id CROSS JOIN chunk c ON c.blob_id = b.id
                 WHERE e.view_id = ?1 AND e.path >= 'commit:' AND e.path < 'commit;' AND c.kind = 'commit'",
            )?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                visit(ChunkId(row.get(0)?), row.get_ref(1)?.as_str().unwrap_or_default());
            }
            Ok(())
        })
    }
}
