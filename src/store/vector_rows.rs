//! Writes the rows of the table in which sqlite-vec keeps vectors of chunks, together with the chunks.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::as_bytes;
use super::new_rows::Added;

/// The key in `meta` of the highest chunk id up to which the table has all vectors; absent if there is no table.
const FILLED_TO: &str = "vectors_filled_to";

/// The value of [`filled_to`] once it has all, also those that come later.
pub(super) const ALL: i64 = i64::MAX;

/// Adds vectors that chunks were given in this transaction, if the table is needed and was filled up to their ids.
pub(super) fn add_rows(tx: &Transaction<'_>, added: &Added) -> rusqlite::Result<()> {
    let Some(filled_to) = filled_to(tx)? else { return Ok(()) };
    for (id, vector) in added.iter().filter(|(id, _)| id.0 <= filled_to) {
        add_row(tx, id.0, &as_bytes(vector))?;
    }
    Ok(())
}

/// Adds the vector of a chunk that still exists.
pub(super) fn add_row(tx: &Transaction<'_>, id: i64, vector: &[u8]) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO chunk_vec(rowid, vec)
         SELECT ?1, vec_int8(?2) WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?1)",
    )?
    .execute(params![id, vector])
    .map(drop)
}

/// Deletes the vectors of these chunks; sqlite-vec overwrites them with zeros.
pub(super) fn delete_rows(tx: &Transaction<'_>, chunks: &[i64]) -> rusqlite::Result<()> {
    if filled_to(tx)?.is_none() {
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

/// Returns the chunk id up to which the table has all vectors; nothing if there is no table.
pub(super) fn filled_to(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?
        .query_row([FILLED_TO], |row| row.get(0))
        .optional()
}

/// Records what [`filled_to`] returns.
pub(super) fn note_filled_to(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", params![FILLED_TO, id.to_string()])
        .map(drop)
}
