//! Writes the rows of the table in which sqlite-vec keeps vectors of chunks, together with the chunks.

use memod_database::vector_to_bytes;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::new_rows::AddedVectors;
use crate::vector_state::HAS_VECTOR;

/// The key in `meta` of the highest chunk id up to which the table has all vectors; absent if there is no table.
const FILLED_TO: &str = "vectors_filled_to";

/// The value of [`read_filled_to`] once the table has all vectors, also those that are added later.
pub(super) const ALL_CHUNKS: i64 = i64::MAX;

/// Number of slots for vectors in a block of the table, the default of sqlite-vec.
pub(super) const SLOTS_PER_BLOCK: usize = 1_024;

/// Adds vectors that were stored for chunks in this transaction, if the table exists and was filled up to their ids.
pub(super) fn add_rows(tx: &Transaction<'_>, added: &AddedVectors) -> rusqlite::Result<()> {
    let Some(filled_to) = read_filled_to(tx)? else { return Ok(()) };
    for (id, vector) in added.iter().filter(|(id, _)| id.0 <= filled_to) {
        add_row(tx, id.0, &vector_to_bytes(vector))?;
    }
    Ok(())
}

/// Adds the vector of a chunk, if the chunk still exists.
fn add_row(tx: &Transaction<'_>, id: i64, vector: &[u8]) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO chunk_vec(rowid, vec)
         SELECT ?1, vec_int8(?2) WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?1)",
    )?
    .execute(params![id, vector])
    .map(drop)
}

/// Deletes the vectors of these chunks; sqlite-vec overwrites them with zeros.
pub(super) fn delete_rows(tx: &Transaction<'_>, chunks: &[i64]) -> rusqlite::Result<()> {
    if read_filled_to(tx)?.is_none() {
        return Ok(());
    }
    let mut statement = tx.prepare_cached("DELETE FROM chunk_vec WHERE rowid = ?1")?;
    chunks.iter().try_for_each(|id| statement.execute([id]).map(drop))
}

/// Deletes the table.
pub(super) fn drop_table(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch("DROP TABLE IF EXISTS chunk_vec")?;
    tx.execute("DELETE FROM meta WHERE key = ?1", [FILLED_TO]).map(drop)
}

/// Creates an empty table for vectors of `dims` numbers; deletes an existing table first.
pub(super) fn create_table(tx: &Transaction<'_>, dims: usize) -> rusqlite::Result<()> {
    drop_table(tx)?;
    tx.execute_batch(&format!(
        "CREATE VIRTUAL TABLE chunk_vec USING vec0(vec int8[{dims}], chunk_size={SLOTS_PER_BLOCK})"
    ))?;
    write_filled_to(tx, 0)
}

/// Adds the vectors of the chunks with ids over `after`, up to `last`.
pub(super) fn copy_rows(tx: &Transaction<'_>, after: i64, last: i64) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT c.id, e.vec FROM chunk c
         CROSS JOIN embedding e ON e.text_hash = c.text_hash
              AND e.model_id = (SELECT value FROM meta WHERE key = 'model')
         WHERE c.id > ?1 AND c.id <= ?2 AND c.vec_state = {HAS_VECTOR} ORDER BY c.id"
    ))?;
    let mut rows = statement.query([after, last])?;
    while let Some(row) = rows.next()? {
        add_row(tx, row.get(0)?, row.get_ref(1)?.as_blob()?)?;
    }
    write_filled_to(tx, last)
}

/// Replaces the rows of the table after all vectors have changed. If the table was not complete, deletes it: only a complete table
/// is the only source of vectors for searches.
pub(super) fn refill_complete_table_or_drop(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let was_complete = read_filled_to(tx)? == Some(ALL_CHUNKS);
    let first_length = "SELECT length(vec) FROM embedding WHERE length(vec) > 0
               AND model_id = (SELECT value FROM meta WHERE key = 'model') LIMIT 1";
    match tx.query_row(first_length, [], |row| row.get(0)).optional()? {
        Some(dims) if was_complete => {
            create_table(tx, dims)?;
            copy_rows(tx, 0, ALL_CHUNKS)
        }
        _ => drop_table(tx),
    }
}

/// Returns the chunk id up to which the table has all vectors; `None` if there is no table.
pub(super) fn read_filled_to(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?
        .query_row([FILLED_TO], |row| row.get(0))
        .optional()
}

/// Records the id that [`read_filled_to`] returns.
fn write_filled_to(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", params![FILLED_TO, id.to_string()])
        .map(drop)
}
