//! Switches the vectors of index.db to another model.
//!
//! `meta.model` names the model that searches use, and `meta.next_model` the next one. Vectors of the next model are stored
//! next to the others: those of chunks in `embedding`, which has the model in its key, those of paths in `next_path`. One
//! transaction makes the switch. So whenever the daemon is killed, the database has all vectors of one model, and a
//! snapshot never shows vectors of two.

use memod_base::types::ChunkId;
use memod_database::{DatabaseError, vector_to_bytes};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::index_writer::IndexWriter;
use super::new_rows::{NewVector, VectorOwner};
use super::vector_rows;
use crate::reading::index_reader::{IndexReader, PendingChunk};
use crate::reading::index_reader::{PENDING_CHUNK_COLUMNS, read_pending_chunk};
use crate::vector_state::{EMBED_FAILED, HAS_VECTOR, VECTOR_PENDING, WITHOUT_VECTOR};

/// Keys of `meta`.
const MODEL: &str = "model";
const NEXT_MODEL: &str = "next_model";
/// Present if a user chose the model: then it stays when another version of memod has another default.
const IS_CHOSEN: &str = "model_is_chosen";

/// Returns the SQL condition for a chunk `c` that needs a vector. A chunk without one that has a row in `embedding` needs it, too: only
/// the present model knew none of its words.
fn is_embedded_condition() -> String {
    format!(
        "(c.vec_state != {WITHOUT_VECTOR} OR EXISTS (SELECT 1 FROM embedding x WHERE x.text_hash = c.text_hash))"
    )
}

/// Returns the model that searches use. If it was a former default, all chunks are queued to be embedded again.
pub(super) fn load_or_reset_model(tx: &Transaction<'_>, default: &str) -> rusqlite::Result<String> {
    let known = read_meta(tx, MODEL)?;
    match known {
        Some(known) if known == default || read_meta(tx, IS_CHOSEN)?.is_some() => return Ok(known),
        _ => {}
    }
    tx.execute_batch(&format!(
        "UPDATE chunk SET vec_state = {VECTOR_PENDING} WHERE vec_state IN ({HAS_VECTOR}, {EMBED_FAILED});
         UPDATE path SET vec_state = {VECTOR_PENDING}, vec = NULL;"
    ))?;
    vector_rows::drop_table(tx)?;
    set_meta(tx, MODEL, default)?;
    Ok(default.to_owned())
}

impl IndexWriter {
    /// Returns the identity of the model that searches use.
    pub fn model_id(&self) -> &str {
        &self.model_id
    }

    /// Records the next model, if any; deletes the vectors of another next model.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is changed then.
    pub fn set_next_model(&mut self, next: Option<&str>) -> Result<(), DatabaseError> {
        let active = self.model_id.clone();
        self.run_transaction(|tx| {
            let planned = read_meta(tx, NEXT_MODEL)?;
            if planned.as_deref() == next {
                return Ok(());
            }
            if let Some(planned) = planned {
                tx.execute("DELETE FROM next_path", [])?;
                tx.execute(
                    "DELETE FROM embedding WHERE model_id = ?1 AND model_id != ?2",
                    [planned, active],
                )?;
            }
            match next {
                Some(next) => set_meta(tx, NEXT_MODEL, next),
                None => delete_meta(tx, NEXT_MODEL),
            }
        })
    }

    /// Stores vectors of the next model, unless another model is the next one now. An empty vector means that the model fails on
    /// the text.
    ///
    /// # Errors
    /// When the database cannot be written; no vector is stored then.
    pub fn add_next_vectors(&mut self, model: &str, vectors: &[NewVector]) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
            if read_meta(tx, NEXT_MODEL)?.as_deref() != Some(model) {
                return Ok(());
            }
            for vector in vectors {
                let bytes = vector.vec.as_deref().map(vector_to_bytes);
                match vector.owner {
                    VectorOwner::Path(id) => tx
                        .prepare_cached(
                            "INSERT OR REPLACE INTO next_path(path_id, vec)
                             SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM path WHERE id = ?1)",
                        )?
                        .execute(params![id, bytes])?,
                    VectorOwner::Chunk(id, text_hash) => tx
                        .prepare_cached(
                            "INSERT INTO embedding(text_hash, model_id, vec)
                             SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?4) ON CONFLICT DO NOTHING",
                        )?
                        .execute(params![text_hash, model, bytes, id.0])?,
                };
            }
            Ok(())
        })
    }

    /// Switches to `model`, the next one. Texts without a vector of this model are queued to be embedded.
    ///
    /// # Errors
    /// When the database cannot be written; the former model stays in use then.
    pub fn switch_model(&mut self, model: &str, is_default: bool) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
            let is_embedded = is_embedded_condition();
            tx.execute(
                &format!(
                    "UPDATE chunk AS c SET vec_state = coalesce(
                         (SELECT CASE WHEN e.vec IS NULL THEN {WITHOUT_VECTOR} WHEN length(e.vec) = 0 THEN {EMBED_FAILED}
                                      ELSE {HAS_VECTOR} END
                          FROM embedding e WHERE e.text_hash = c.text_hash AND e.model_id = ?1), {VECTOR_PENDING})
                     WHERE {is_embedded}"
                ),
                [model],
            )?;
            tx.execute_batch(&format!(
                "UPDATE path SET vec = nullif(next.vec, x''),
                     vec_state = CASE WHEN next.path_id IS NULL THEN {VECTOR_PENDING} WHEN next.vec = x'' THEN {EMBED_FAILED}
                                      ELSE {HAS_VECTOR} END
                 FROM path AS own LEFT JOIN next_path AS next ON next.path_id = own.id WHERE own.id = path.id;
                 DELETE FROM next_path;"
            ))?;
            tx.execute("DELETE FROM embedding WHERE model_id != ?1", [model])?;
            set_meta(tx, MODEL, model)?;
            vector_rows::refill_complete_table_or_drop(tx)?;
            delete_meta(tx, NEXT_MODEL)?;
            if is_default { delete_meta(tx, IS_CHOSEN) } else { set_meta(tx, IS_CHOSEN, "1") }
        })?;
        model.clone_into(&mut self.model_id);
        Ok(())
    }
}

impl IndexReader {
    /// Returns the identity of the model that searches use; empty before one was chosen.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn model_id(&self) -> Result<String, DatabaseError> {
        self.run_query(|conn| Ok(read_meta(conn, MODEL)?.unwrap_or_default()))
    }

    /// Returns the identity of the next model, if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn next_model(&self) -> Result<Option<String>, DatabaseError> {
        self.run_query(|conn| read_meta(conn, NEXT_MODEL))
    }

    /// Returns up to `limit` chunks of some worktree that lack a vector of a model, with ids above `after`, ids ascending.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_chunks_without_vector(
        &self,
        model: &str,
        after: ChunkId,
        limit: usize,
    ) -> Result<Vec<PendingChunk>, DatabaseError> {
        let is_embedded = is_embedded_condition();
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT {PENDING_CHUNK_COLUMNS} FROM chunk c
                 CROSS JOIN blob b ON b.id = c.blob_id
                 CROSS JOIN entry e ON e.blob_id = c.blob_id
                 CROSS JOIN view v ON v.id = e.view_id
                 WHERE c.id > ?1 AND {is_embedded} AND NOT EXISTS
                     (SELECT 1 FROM embedding n WHERE n.text_hash = c.text_hash AND n.model_id = ?3)
                 GROUP BY c.id ORDER BY c.id LIMIT ?2"
            ))?;
            statement.query_map(params![after.0, limit as i64, model], read_pending_chunk)?.collect()
        })
    }

    /// Returns up to `limit` paths that lack a vector of the next model, with their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_paths_without_vector(&self, limit: usize) -> Result<Vec<(i64, String)>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT id, path FROM path WHERE id NOT IN (SELECT path_id FROM next_path) LIMIT ?1",
            )?;
            statement.query_map([limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Calls `visit` with each chunk that has a vector of this model, and the int8 vector as bytes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_vector_of_model(
        &self,
        model: &str,
        mut visit: impl FnMut(ChunkId, &[u8]),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare(
                "SELECT c.id, e.vec FROM chunk c CROSS JOIN embedding e ON e.text_hash = c.text_hash AND e.model_id = ?1
                 WHERE length(e.vec) > 0",
            )?;
            let mut rows = statement.query([model])?;
            while let Some(row) = rows.next()? {
                visit(ChunkId(row.get(0)?), row.get_ref(1)?.as_blob().unwrap_or_default());
            }
            Ok(())
        })
    }

    /// Returns how many chunks were embedded with a model, and how many chunks there are to embed in all.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_embedded_chunks(&self, model: &str) -> Result<(u64, u64), DatabaseError> {
        let is_embedded = is_embedded_condition();
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT count(n.text_hash), count(*) FROM chunk c
                 LEFT JOIN embedding n ON n.text_hash = c.text_hash AND n.model_id = ?1 WHERE {is_embedded}"
            ))?
            .query_row([model], |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?)))
        })
    }
}

fn read_meta(conn: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

fn set_meta(conn: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", [key, value]).map(drop)
}

fn delete_meta(conn: &Connection, key: &str) -> rusqlite::Result<()> {
    conn.execute("DELETE FROM meta WHERE key = ?1", [key]).map(drop)
}

#[cfg(test)]
mod tests;
