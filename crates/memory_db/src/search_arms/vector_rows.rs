//! Stores the vectors of memories.
//!
//! No method writes them: the memories that a transaction has changed get their vectors in the same transaction, and a
//! trigger deletes the vector of a text that changes. Memories that lack one nevertheless (after a migration, a change of
//! model, or a restored backup) get it when there is nothing else to do.

use memod_base::types::MemoryRow;
use memod_database::{DatabaseError, vector_from_bytes, vector_to_bytes};
use rusqlite::{OptionalExtension, Row, params};

use crate::access::row_access::row_handle;
use crate::access::touched_rows::TouchedRows;
use crate::memory_tables::version_rows::VersionRows;

/// Number of memories that a fast model embeds at a time.
pub const EMBED_STEP: usize = 256;

row_handle! {
    /// Vectors of memories.
    pub struct VectorRows { versions: VersionRows }
}

/// A model that turns memories into vectors.
pub struct VectorModel {
    /// Identity of the model; vectors of different models are never compared.
    pub id: String,
    /// Returns one int8 vector for each title and content; `None` in place of one if the model knows no word of them or
    /// fails on them, and `None` for all if the model fails on every text.
    pub embed: Box<EmbedTexts>,
    /// The same, but returns `None` instead of waiting for the model to be loaded.
    pub embed_now: Box<EmbedTexts>,
    /// Number of memories that are embedded at a time.
    pub step: usize,
}

/// Makes the model with an identity. An unknown model leaves all vectors missing.
pub(crate) type MakeModel = Box<dyn Fn(&str) -> VectorModel + Send>;

/// Title, empty without one, and content.
type TitleAndContent = (String, String);

/// Titles and contents in, vectors out, `[n_memories]`.
type EmbedTexts = dyn Fn(&[TitleAndContent]) -> Option<Vec<Option<Vec<i8>>>> + Send + Sync;

impl VectorRows<'_> {
    /// Computes the vectors that touched memories lack; returns whether it could. The write waits for them, so many are left for
    /// later if the model is slow.
    pub(crate) fn embed_touched(
        &self,
        touched: &TouchedRows,
        model: &VectorModel,
    ) -> Result<bool, DatabaseError> {
        let rows = touched.get();
        if model.step < EMBED_STEP && rows.len() > model.step {
            return Ok(false);
        }
        self.embed_rows(&rows, model, &model.embed_now)
    }

    /// Computes the vectors that these memories lack; returns whether it could.
    pub(crate) fn embed_missing(&self, rows: &[i64], model: &VectorModel) -> Result<bool, DatabaseError> {
        self.embed_rows(rows, model, &model.embed)
    }

    fn embed_rows(
        &self,
        rows: &[i64],
        model: &VectorModel,
        embed: &EmbedTexts,
    ) -> Result<bool, DatabaseError> {
        for rows in rows.chunks(model.step) {
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

    /// Returns title and content of those of `rows` that have no vector of a model.
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

    /// Returns the vector of a model that the memory in a row has, living or archived.
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
        let row_id = self.versions().own_version_id(id)?.unwrap_or_else(|| id.to_owned());
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO memory_vector(memory, model, vec) SELECT row, ?2, ?3 FROM memory WHERE id = ?1",
            )?
            .execute(params![row_id, model, vector_to_bytes(values)])
            .map(drop)
        })
    }

    /// Deletes the vectors of other models.
    pub(crate) fn delete_other_vectors(&self, model: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| conn.execute("DELETE FROM memory_vector WHERE model != ?1", [model]).map(drop))
    }

    /// Returns living memories that have no vector of a model.
    pub(crate) fn list_vectorless(&self, model: &str, at_most: usize) -> Result<Vec<i64>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.row FROM memory m LEFT JOIN memory_vector v ON v.memory = m.row AND v.model = ?1
                 WHERE m.archived_at IS NULL AND v.memory IS NULL LIMIT ?2",
            )?
            .query_map(params![model, at_most as i64], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns all vectors of living memories.
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

    /// Returns the vector of a memory, if it lives and has one.
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

fn read_vector(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<i8>> {
    Ok(vector_from_bytes(row.get_ref(column)?.as_blob()?))
}
