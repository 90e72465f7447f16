//! Deletes contents that became secret from index.db without a trace.
//!
//! The rows are deleted in the transaction that detects the change, or as soon as no other path has the same content: while an
//! admitted file has a content, the content is not secret. The traces that SQLite leaves are removed right after:
//!
//! - A word may itself be the secret. Deleted chunks stay in the lists of words until a merge, so all segments are merged, and
//!   words that no chunk has are deleted.
//! - `PRAGMA secure_delete` overwrites what is freed, but not what balancing a tree has left between the cells of a page
//!   (`rebuildPage` in SQLite's btree.c), nor what was freed before. So the database is rebuilt by `VACUUM`.
//! - The log has the old pages. It is truncated once no reader needs it.

use std::collections::HashSet;
use std::time::Duration;

use memod_base::types::BlobId;
use memod_database::{BUSY_TIMEOUT, DatabaseError};
use rusqlite::{Connection, Transaction};

use super::blob_rows::{delete_blob, delete_unused_paths};
use super::index_writer::IndexWriter;
use crate::postings::compact_segments;

/// Time that the writer waits for readers of the log before it tries again later.
const LOG_TIMEOUT: Duration = Duration::from_millis(50);

/// Traces of purged rows that the database files may still have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// No traces.
    None,
    /// Pages in the write-ahead log.
    Log,
    /// Pages in the database, and in the write-ahead log.
    Pages,
}

impl Leftovers {
    /// Returns the traces that an earlier daemon may have left. The log counts in any case, because after a crash it may have pages
    /// from before a purge.
    pub(super) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let is_noted = conn.prepare("SELECT 1 FROM meta WHERE key = 'unscrubbed'")?.exists([])?;
        Ok(if is_noted { Self::Pages } else { Self::Log })
    }

    /// Records whether rows were purged.
    pub(super) fn record_purge(&mut self, has_purged: bool) {
        if has_purged {
            *self = Self::Pages;
        }
    }
}

/// Marks a content as secret, so that it is purged once no path has it. Does nothing without a content.
pub(super) fn mark_secret(tx: &Transaction<'_>, blob: Option<BlobId>) -> rusqlite::Result<()> {
    let Some(blob) = blob else { return Ok(()) };
    tx.prepare_cached("UPDATE blob SET is_secret = 1 WHERE id = ?1")?.execute([blob.0])?;
    Ok(())
}

/// Marks the former content of a path as secret if more credentials were cut out of the present one, because the former may show
/// them.
pub(super) fn mark_former_content_secret(
    tx: &Transaction<'_>,
    former: BlobId,
    present: BlobId,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE blob SET is_secret = 1
         WHERE id = ?1 AND n_secrets < (SELECT n_secrets FROM blob WHERE id = ?2)",
    )?
    .execute([former.0, present.0])?;
    Ok(())
}

/// Deletes contents that are marked as secret and that no path has, with all derived data. Returns whether there were any.
pub(super) fn delete_secret_blobs(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM blob
         WHERE is_secret = 1 AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)",
    )?;
    let blobs: Vec<BlobId> =
        statement.query_map([], |row| row.get(0).map(BlobId))?.collect::<Result<_, _>>()?;
    if blobs.is_empty() {
        return Ok(false);
    }
    tx.execute_batch("PRAGMA secure_delete = ON")?;
    let mut texts = HashSet::new();
    for blob in &blobs {
        let mut find_hashes = tx.prepare_cached("SELECT text_hash FROM chunk WHERE blob_id = ?1")?;
        let hashes = find_hashes.query_map([blob.0], |row| row.get(0))?;
        texts.extend(hashes.collect::<Result<Vec<[u8; 32]>, _>>()?);
        delete_blob(tx, *blob)?;
    }
    delete_vectors_of_texts(tx, texts)?;
    delete_unused_paths(tx)?;
    record_leftovers(tx)?;
    compact_segments(tx)?;
    tx.execute_batch("PRAGMA secure_delete = OFF")?;
    Ok(true)
}

/// Deletes the vectors of those texts that no chunk has any more.
fn delete_vectors_of_texts(tx: &Transaction<'_>, mut texts: HashSet<[u8; 32]>) -> rusqlite::Result<()> {
    let mut statement = tx.prepare("SELECT text_hash FROM chunk")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        texts.remove(&row.get::<_, [u8; 32]>(0)?);
    }
    for text in texts {
        tx.prepare_cached("DELETE FROM embedding WHERE text_hash = ?1")?.execute([text])?;
    }
    Ok(())
}

/// Records in the database that its pages may still show deleted rows.
pub(super) fn record_leftovers(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute("INSERT OR REPLACE INTO meta(key, value) VALUES('unscrubbed', '1')", []).map(drop)
}

impl IndexWriter {
    /// Purges unreferenced contents of these sizes, because a file with a secret name may have the same content.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is purged then.
    pub fn purge_contents_of_sizes(&mut self, sizes: &[u64]) -> Result<(), DatabaseError> {
        let has_purged = self.run_transaction(|tx| {
            for size in sizes {
                tx.prepare_cached(
                    "UPDATE blob SET is_secret = 1 WHERE size = ?1 AND kind != 'commit'
                     AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)",
                )?
                .execute([*size as i64])?;
            }
            delete_secret_blobs(tx)
        })?;
        self.record_purge(has_purged);
        Ok(())
    }

    /// Returns whether the files of the database may have traces of purged rows.
    pub fn has_leftovers(&self) -> bool {
        self.leftovers != Leftovers::None
    }

    /// Returns whether rows were purged since the database was last rebuilt.
    pub fn has_unscrubbed_pages(&self) -> bool {
        self.leftovers == Leftovers::Pages
    }

    /// Removes all traces of purged rows from the files of the database. If a reader still needs the log, some traces are left, and
    /// this must be called again.
    ///
    /// # Errors
    /// When the database cannot be written, mainly for lack of room, because it is rebuilt.
    pub fn scrub_traces(&mut self) -> Result<(), DatabaseError> {
        if self.leftovers == Leftovers::Pages {
            self.rebuild_database()?;
            self.leftovers = Leftovers::Log;
        }
        if self.leftovers == Leftovers::Log && self.truncate_log_if_unused()? {
            self.leftovers = Leftovers::None;
        }
        Ok(())
    }

    fn rebuild_database(&self) -> Result<(), DatabaseError> {
        vacuum(&self.conn).map_err(|error| DatabaseError::from_sqlite(&self.path, error))
    }

    /// Truncates the log unless a reader still needs it. Returns whether the log is empty now.
    fn truncate_log_if_unused(&self) -> Result<bool, DatabaseError> {
        let is_busy = truncate_log(&self.conn);
        is_busy.map(|is_busy| !is_busy).map_err(|error| DatabaseError::from_sqlite(&self.path, error))
    }
}

fn vacuum(conn: &Connection) -> rusqlite::Result<()> {
    // The copy that VACUUM makes may not fit into memory.
    conn.execute_batch("PRAGMA temp_store = FILE")?;
    let rebuilt = conn.execute_batch("VACUUM; DELETE FROM meta WHERE key = 'unscrubbed';");
    conn.execute_batch("PRAGMA temp_store = MEMORY")?;
    rebuilt
}

/// Moves the log into the database; returns whether a reader still needs the log.
fn truncate_log(conn: &Connection) -> rusqlite::Result<bool> {
    conn.busy_timeout(LOG_TIMEOUT)?;
    let is_busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    conn.busy_timeout(BUSY_TIMEOUT)?;
    is_busy
}
