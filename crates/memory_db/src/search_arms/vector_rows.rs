//! Stores the vectors of memories.
//!
//! The memories that a transaction has changed get their vectors in the same transaction, and a trigger deletes the vector of a
//! text that changes. Memories that still lack a vector (after a migration, a change of model, or a restored backup) get it when
//! there is nothing else to do.

use memod_base::types::MemoryRow;
use memod_database::{DatabaseError, vector_from_bytes, vector_to_bytes};
use rusqlite::{OptionalExtension, Row, params};

use crate::access::row_access::row_handle;
use crate::access::touched_rows::TouchedRows;
use crate::memory_tables::version_rows::VersionRows;

/// Number of memories that a fast model embeds at a time.
pub const FAST_MODEL_BATCH: usize = 256;

row_handle! {
    /// Vectors of memories.
    pub struct VectorRows { versions: VersionRows }
}

/// A model that turns memories into vectors.
pub struct VectorModel {
    /// Identity of the model; vectors of different models are never compared.
    pub id: String,
    /// Returns one int8 vector for each pair of title and content, with `None` for a pair of which the model knows no word or on
    /// which it fails. Returns `None` if the model fails on every text.
    pub embed: Box<EmbedTexts>,
    /// Like `embed`, but returns `None` instead of waiting until the model is loaded.
    pub embed_if_loaded: Box<EmbedTexts>,
    /// Number of memories that are embedded at a time.
    pub batch_size: usize,
}

/// Makes the model with an identity. An unknown model computes no vectors.
pub(crate) type MakeModel = Box<dyn Fn(&str) -> VectorModel + Send>;

/// The title of a memory, empty if it has none, and the content.
type TitleAndContent = (String, String);

/// Computes the vectors of titles and contents, in the same order.
type EmbedTexts = dyn Fn(&[TitleAndContent]) -> Option<Vec<Option<Vec<i8>>>> + Send + Sync;

impl VectorRows<'_> {
    /// Computes the vectors that the written memories lack; returns whether it did. The write waits for the vectors, so a slow
    /// model leaves many of them for later.
    pub(crate) fn embed_written_memories(
        &self,
        touched: &TouchedRows,
        model: &VectorModel,
    ) -> Result<bool, DatabaseError> {
        let rows = touched.row_numbers();
        if model.batch_size < FAST_MODEL_BATCH && rows.len() > model.batch_size {
            return Ok(false);
        }
        self.embed_rows(&rows, model, &model.embed_if_loaded)
    }

    /// Computes the vectors that the memories in these rows lack; returns whether the model could be used.
    pub(crate) fn embed_missing(&self, rows: &[i64], model: &VectorModel) -> Result<bool, DatabaseError> {
        self.embed_rows(rows, model, &model.embed)
    }

    /// Computes the vectors that the memories in these rows lack with `embed`; returns whether the model could be used.
    fn embed_rows(
        &self,
        rows: &[i64],
        model: &VectorModel,
        embed: &EmbedTexts,
    ) -> Result<bool, DatabaseError> {
        for rows in rows.chunks(model.batch_size) {
            let (rows, fields): (Vec<i64>, Vec<_>) =
                self.list_unembedded(rows, &model.id)?.into_iter().unzip();
            if rows.is_empty() {
                continue;
            }
            let Some(vectors) = embed(&fields) else { return Ok(false) };
            self.access.run(|conn| {
                let mut put = conn.prepare_cached(
                    "INSERT OR REPLACE INTO memory_vector(memory, model, vec) VALUES(?1, ?2, ?3)",
                )?;
                rows.iter().zip(vectors).try_for_each(|(row, vector)| {
                    put.execute(params![row, model.id, vector.as_deref().map(vector_to_bytes)]).map(drop)
                })
            })?;
        }
        Ok(true)
    }

    /// Returns title and content of the memories in `rows` that have no vector of a model, each with its row number.
    fn list_unembedded(
        &self,
        rows: &[i64],
        model: &str,
    ) -> Result<Vec<(i64, TitleAndContent)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.row, coalesce(m.title, ''), m.content FROM json_each(?1) w CROSS JOIN memory m ON m.row = w.value
                 WHERE NOT EXISTS (SELECT 1 FROM memory_vector v WHERE v.memory = m.row AND v.model = ?2)",
            )?
            .query_map(params![serde_json::json!(rows).to_string(), model], |row| {
                Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
            })?
            .collect()
        })
    }

    /// Returns the vector of a model for the memory in a row, living or archived; `None` if there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_vector(&self, row: i64, model: &str) -> Result<Option<Vec<i8>>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT vec FROM memory_vector WHERE memory = ?1 AND model = ?2 AND vec IS NOT NULL",
            )?
            .query_row(params![row, model], |row| read_vector(row, 0))
            .optional()
        })
    }

    /// Stores the vector that a model computed from title and content of a memory, so that it is not computed again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_vector(&self, id: &str, model: &str, values: &[i8]) -> Result<(), DatabaseError> {
        let row_id = self.versions().worktree_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO memory_vector(memory, model, vec) SELECT row, ?2, ?3 FROM memory WHERE id = ?1",
            )?
            .execute(params![row_id, model, vector_to_bytes(values)])
            .map(drop)
        })
    }

    /// Deletes the vectors of all models except `model`.
    pub(crate) fn delete_vectors_of_other_models(&self, model: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| conn.execute("DELETE FROM memory_vector WHERE model != ?1", [model]).map(drop))
    }

    /// Returns the row numbers of at most `at_most` living memories that have no vector of a model.
    pub(crate) fn list_rows_without_vector(
        &self,
        model: &str,
        at_most: usize,
    ) -> Result<Vec<i64>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.row FROM memory m LEFT JOIN memory_vector v ON v.memory = m.row AND v.model = ?1
                 WHERE m.archived_at IS NULL AND v.memory IS NULL LIMIT ?2",
            )?
            .query_map(params![model, at_most as i64], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the vectors of a model for all living memories.
    pub(crate) fn living_vectors(&self, model: &str) -> Result<Vec<(MemoryRow, Vec<i8>)>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare(
                "SELECT v.memory, v.vec FROM memory_vector v JOIN memory m ON m.row = v.memory
                 WHERE v.model = ?1 AND v.vec IS NOT NULL AND m.archived_at IS NULL",
            )?
            .query_map([model], |row| Ok((MemoryRow(row.get(0)?), read_vector(row, 1)?)))?
            .collect()
        })
    }

    /// Returns the vector of a model for a memory, if the memory is living and has one.
    pub(crate) fn living_vector(
        &self,
        row: MemoryRow,
        model: &str,
    ) -> Result<Option<Vec<i8>>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT v.vec FROM memory_vector v JOIN memory m ON m.row = v.memory
                 WHERE v.memory = ?1 AND v.model = ?2 AND v.vec IS NOT NULL AND m.archived_at IS NULL",
            )?
            .query_row(params![row.0, model], |row| read_vector(row, 0))
            .optional()
        })
    }
}

/// Reads a vector from a column of a row.
fn read_vector(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<i8>> {
    Ok(vector_from_bytes(row.get_ref(column)?.as_blob()?))
}
