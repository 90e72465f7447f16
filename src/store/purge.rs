//! Deletes what has become a secret from index.db without a trace.
//!
//! The rows go in the transaction that saw it, or as soon as no other path holds the same content: while an admitted file
//! has it, it is no secret. What SQLite leaves behind goes right after:
//!
//! - FTS5's `secure-delete` does nothing in a table with `contentless_delete`, for it needs the words of the row, which are
//!   not kept: a delete leaves the words in their segment, and a tombstone. So the segments are merged into one.
//! - `PRAGMA secure_delete` overwrites what is freed, but not what balancing a tree has left between the cells of a page
//!   (`rebuildPage` in SQLite's btree.c), nor what was freed before. So the database is rebuilt by `VACUUM`.
//! - The log has the pages as they were. It is cut off once no reader needs it.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::blob_rows::{delete_blob, delete_unused_paths};
use super::{BUSY_TIMEOUT, StoreError, Writer};
use crate::types::BlobId;

/// How long the writer waits for readers of the log; it is asked again later.
const LOG_TIMEOUT: Duration = Duration::from_millis(50);

/// What the files of the database may still show of rows that were purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftovers {
    /// Nothing.
    None,
    /// Pages in the log.
    Log,
    /// Pages of the database, and in the log.
    Pages,
}

impl Leftovers {
    /// Returns what a daemon before has left. Without a purge too the log is cut off once: after a crash it may have been
    /// that of one.
    pub(super) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let is_noted = conn.prepare("SELECT 1 FROM meta WHERE key = 'unscrubbed'")?.exists([])?;
        Ok(if is_noted { Self::Pages } else { Self::Log })
    }

    /// Notes that rows were purged, if so.
    pub(super) fn note(&mut self, has_purged: bool) {
        if has_purged {
            *self = Self::Pages;
        }
    }
}

/// Marks a content as a secret: it is purged once nobody refers to it.
pub(super) fn mark(tx: &Transaction<'_>, blob: Option<BlobId>) -> rusqlite::Result<()> {
    let Some(blob) = blob else { return Ok(()) };
    tx.prepare_cached("UPDATE blob SET is_secret = 1 WHERE id = ?1")?.execute([blob.0])?;
    Ok(())
}

/// Marks the former content of a path if more is cut out of the present one.
pub(super) fn mark_if_cut(tx: &Transaction<'_>, former: BlobId, present: BlobId) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE blob SET is_secret = 1
         WHERE id = ?1 AND n_secrets < (SELECT n_secrets FROM blob WHERE id = ?2)",
    )?
    .execute([former.0, present.0])?;
    Ok(())
}

/// Deletes the contents that are marked and that nobody refers to, with all that was made of them. Returns whether there
/// were any.
pub(super) fn sweep(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
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
        let mut of_blob = tx.prepare_cached("SELECT text_hash FROM chunk WHERE blob_id = ?1")?;
        let hashes = of_blob.query_map([blob.0], |row| row.get(0))?;
        texts.extend(hashes.collect::<Result<Vec<[u8; 32]>, _>>()?);
        delete_blob(tx, *blob)?;
    }
    delete_vectors(tx, texts)?;
    delete_unused_paths(tx)?;
    note_leftovers(tx)?;
    tx.execute_batch(
        "INSERT INTO chunk_fts(chunk_fts) VALUES('optimize');
         INSERT INTO path_fts(path_fts) VALUES('optimize');
         PRAGMA secure_delete = OFF;",
    )?;
    Ok(true)
}

/// Deletes the vectors of those texts that no chunk has any more.
fn delete_vectors(tx: &Transaction<'_>, mut texts: HashSet<[u8; 32]>) -> rusqlite::Result<()> {
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

/// Notes for whoever opens the database next that pages may show what was deleted.
pub(super) fn note_leftovers(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute("INSERT OR REPLACE INTO meta(key, value) VALUES('unscrubbed', '1')", []).map(drop)
}

impl Writer {
    /// Purges contents of these sizes that nobody refers to: a file of a secret name may hold the same.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is purged then.
    pub fn purge_sizes(&mut self, sizes: &[u64]) -> Result<(), StoreError> {
        let has_purged = self.in_tx(|tx| {
            for size in sizes {
                tx.prepare_cached(
                    "UPDATE blob SET is_secret = 1 WHERE size = ?1 AND kind != 'commit'
                     AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id)",
                )?
                .execute([*size as i64])?;
            }
            sweep(tx)
        })?;
        self.leftovers.note(has_purged);
        Ok(())
    }

    /// Returns whether the files may show what was purged.
    pub fn has_leftovers(&self) -> bool {
        self.leftovers != Leftovers::None
    }

    /// Returns whether rows were purged since the last rebuild.
    pub fn has_purged(&self) -> bool {
        self.leftovers == Leftovers::Pages
    }

    /// Brings the files to where they show nothing of what was purged. Something is left where a reader still needs the
    /// log; then it is to be called again.
    ///
    /// # Errors
    /// When the database cannot be written, for lack of room above all: it is written anew.
    pub fn scrub(&mut self) -> Result<(), StoreError> {
        if self.leftovers == Leftovers::Pages {
            self.rebuild()?;
            self.leftovers = Leftovers::Log;
        }
        if self.leftovers == Leftovers::Log && self.cut_log()? {
            self.leftovers = Leftovers::None;
        }
        Ok(())
    }

    fn rebuild(&self) -> Result<(), StoreError> {
        let run = || {
            // The copy may be larger than what memory has to spare.
            self.conn.execute_batch("PRAGMA temp_store = FILE")?;
            let rebuilt = self.conn.execute_batch("VACUUM; DELETE FROM meta WHERE key = 'unscrubbed';");
            self.conn.execute_batch("PRAGMA temp_store = MEMORY")?;
            rebuilt
        };
        run().map_err(|error| StoreError::new(&self.path, error))
    }

    /// Returns whether the log is empty.
    fn cut_log(&self) -> Result<bool, StoreError> {
        let run = || {
            self.conn.busy_timeout(LOG_TIMEOUT)?;
            let is_busy =
                self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
            self.conn.busy_timeout(BUSY_TIMEOUT)?;
            is_busy
        };
        run().map(|is_busy| !is_busy).map_err(|error| StoreError::new(&self.path, error))
    }
}
